import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import { expect } from 'vitest';

export interface Line {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Family {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly lines: Line[];
}

/** A scrape of a registry, over HTTP, as Prometheus does it. */
export async function scrape(registry: Registry): Promise<string> {
  const server = createServer((_, response) => {
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      (error) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}/metrics`);
    const text = await response.text();
    expect([response.status, response.headers.get('content-type')]).toEqual([200, registry.contentType]);
    return text;
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

const LINE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/s;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"(?:,|$)/sy;
const ESCAPED: Record<string, string> = { n: '\n', '"': '"', '\\': '\\' };

/**
 * The families of an exposition in the text format 0.0.4, by name. Fails where the text breaks a rule of the format, or
 * one that `promtool check metrics` knows.
 */
export function familiesOf(text: string): Map<string, Family> {
  expect(text.endsWith('\n')).toBe(true);
  const families = new Map<string, Family>();
  const series = new Set<string>();
  let family: Family | undefined;
  for (const line of text.split('\n').filter((line) => line !== '')) {
    const [, keyword, name, rest] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (keyword === 'HELP') {
      expect(families.has(name), `HELP of ${name} comes once`).toBe(false);
      family = { name, help: rest, type: '', lines: [] };
      families.set(name, family);
    } else if (keyword === 'TYPE') {
      expect([family?.name, family?.type], 'TYPE follows HELP').toEqual([name, '']);
      family = { ...(family as Family), type: rest };
      families.set(name, family);
    } else {
      const parsed = parsedLine(line);
      expect(nameOfFamily(parsed.name, family as Family), `${line} stands in its family`).toBe(family?.name);
      const key = `${parsed.name} ${JSON.stringify(Object.entries(parsed.labels).sort())}`;
      expect(series.has(key), `${key} comes once`).toBe(false);
      series.add(key);
      family?.lines.push(parsed);
    }
  }
  for (const family of families.values()) check(family);
  return families;
}

function parsedLine(line: string): Line {
  const [, name, inBraces = '', number] = LINE.exec(line) ?? [];
  expect(name, line).toBeDefined();
  const labels: Record<string, string> = {};
  for (LABEL.lastIndex = 0; LABEL.lastIndex < inBraces.length; ) {
    const [, label, text] = LABEL.exec(inBraces) ?? [];
    expect(label, line).toBeDefined();
    expect(Object.hasOwn(labels, label), line).toBe(false);
    labels[label] = text.replace(/\\(.)/gs, (_, escaped) => ESCAPED[escaped]);
  }
  const value = number === '+Inf' ? Number.POSITIVE_INFINITY : Number(number);
  expect(value, line).not.toBeNaN();
  return { name, labels, value };
}

const nameOfFamily = (name: string, { type }: Family): string =>
  type === 'histogram' ? name.replace(/_(bucket|sum|count)$/, '') : name;

function check({ name, type, help, lines }: Family): void {
  expect(['counter', 'gauge', 'histogram']).toContain(type);
  expect(help).not.toBe('');
  expect(name.endsWith('_total'), name).toBe(type === 'counter');
  if (type === 'counter') {
    for (const { value } of lines) expect(value >= 0 && value < Number.POSITIVE_INFINITY, name).toBe(true);
  }
  if (type !== 'histogram') return;
  const seriesOf = ({ labels: { le, ...labels } }: Line) => JSON.stringify(labels);
  for (const of of new Set(lines.map(seriesOf))) {
    const values = (part: string) => lines.filter((line) => line.name === `${name}_${part}` && seriesOf(line) === of);
    const buckets = values('bucket').map(({ labels, value }) => ({
      le: Number(labels.le.replace('+Inf', 'Infinity')),
      value,
    }));
    expect([values('sum').length, values('count').length], of).toEqual([1, 1]);
    expect(buckets.at(-1), of).toEqual({ le: Number.POSITIVE_INFINITY, value: values('count')[0].value });
    for (const [at, { le, value }] of buckets.slice(1).entries()) {
      expect(le, of).toBeGreaterThan(buckets[at].le);
      expect(value, of).toBeGreaterThanOrEqual(buckets[at].value);
    }
  }
}

/** The value of the series of exactly these labels; undefined where it is not there. */
export function valueIn(lines: readonly Line[], name: string, labels: Record<string, string>): number | undefined {
  const wanted = Object.entries(labels);
  return lines.find(
    (line) =>
      line.name === name &&
      Object.keys(line.labels).length === wanted.length &&
      wanted.every(([key, text]) => line.labels[key] === text),
  )?.value;
}
