import { vi } from 'vitest';
import { type Family, one, testFamilies, two, twoClients } from './families.ts';
import { steerAllTests } from './one-lane.ts';

vi.mock(import('../../src/memory/shared-words.ts'), async (original) => {
  const { recycledWords } = await import('./recycled-words.ts');
  return { ...(await original()), allocateWords: recycledWords };
});

steerAllTests();

const families: Family[] = [
  { ...one, from: 'new', ring: 1, length: 5, least: 10_000 },
  { ...one, from: 'filed', ring: 2, length: 5, least: 5000 },
  { ...one, from: 'asleep', ring: 2, length: 5, least: 4000 },
  { ...one, from: 'fired', ring: 1, length: 5, least: 8000 },
  { ...one, from: 'new', ring: 2, manual: true, length: 5, least: 7500 },
  { ...one, from: 'filed', ring: 1, manual: true, length: 5, least: 5500 },
  { ...one, from: 'late', ring: 2, length: 4, least: 1000 },
  { ...one, from: 'lateMove', ring: 2, length: 4, least: 1000 },
  { ...two, from: 'twoNew', ring: 1, length: 4, least: 8000 },
  { ...two, from: 'filedAndNew', ring: 1, length: 4, least: 7500 },
  { ...two, from: 'firedAndNew', ring: 1, length: 4, least: 10_000 },
  { ...two, from: 'filedAndNew', ring: 2, length: 4, least: 7500 },
  { ...two, from: 'firedAndFull', ring: 1, length: 4, least: 7000 },
  { ...two, from: 'firedAndLate', ring: 1, length: 4, least: 7000 },
  { ...two, from: 'firedAndFull', manual: true, ring: 1, length: 4, least: 7000 },
  { ...two, from: 'filedAndNew', manual: true, ring: 1, length: 4, least: 6500 },
  { ...two, from: 'twoNew', alone: true, ring: 1, length: 3, least: 900 },
  { ...two, from: 'firedAndFull', alone: true, ring: 1, length: 4, least: 7000 },
  { ...two, from: 'firedAndLate', alone: true, ring: 1, length: 4, least: 7000 },
  { ...one, from: 'fired', ring: 1, mostListed: 0, length: 5, least: 8000 },
  { ...one, from: 'late', ring: 2, mostListed: 0, length: 4, least: 1000 },
  { ...one, from: 'lateMove', ring: 2, mostListed: 0, length: 4, least: 1000 },
  { ...two, from: 'filedAndNew', ring: 1, mostListed: 0, length: 4, least: 7500 },
  { ...two, from: 'firedAndLate', ring: 1, mostListed: 0, length: 4, least: 7000 },
  { ...two, from: 'firedAndFull', ring: 1, mostListed: 0, manual: true, length: 4, least: 7000 },
  { ...twoClients, from: 'bothFired', ring: 1, mostListed: 0, length: 4, least: 20_000 },
  { ...twoClients, from: 'new', ring: 1, length: 4, least: 9000 },
  { ...twoClients, from: 'bothFiled', ring: 1, length: 4, least: 15_000 },
  { ...twoClients, from: 'bothFired', ring: 1, length: 4, least: 20_000 },
  { ...twoClients, from: 'bothFired', ring: 1, manual: true, length: 4, least: 15_000 },
  { ...twoClients, from: 'otherFull', ring: 1, length: 4, least: 18_000 },
  { ...twoClients, from: 'otherFull', ring: 1, alone: true, length: 4, least: 18_000 },
];

testFamilies(
  'clients and shard in every order: each timer is delivered or cancelled, once, not early, and none is stuck',
  families,
  ({ family, every }) =>
    every(1, (world) => {
      if (family.alone) world.rest();
      world.finish();
      return 1;
    }),
);
