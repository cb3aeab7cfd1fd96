import parsePrometheusTextFormat from 'parse-prometheus-text-format';
import { expect } from 'vitest';
import type { Family } from './exposition.ts';

/** The text with each part of a histogram as a family of its own: the other parser keeps one series of each histogram. */
function withoutHistograms(text: string): string {
  const lines = text.split('\n');
  const histograms = lines.flatMap((line) => /^# TYPE (\S+) histogram$/.exec(line)?.[1] ?? []);
  expect(histograms.length).toBe(2);
  const parts = histograms.flatMap((name) => [`${name}_bucket`, `${name}_sum`, `${name}_count`]);
  const isOf = (name: string) => (line: string) => line.startsWith(`${name}{`);
  const isComment = (line: string) => histograms.some((name) => line.startsWith('#') && line.split(' ')[2] === name);
  const others = lines.filter((line) => !isComment(line) && !parts.some((part) => isOf(part)(line)));
  const families = parts.map((part) => [`# HELP ${part} part`, `# TYPE ${part} gauge`, ...lines.filter(isOf(part))]);
  return [...others, ...families.flat(), ''].join('\n');
}

/** Another parser reads every series out of it, with the same labels and values. */
export function expectParsedAlike(text: string, families: Map<string, Family>): void {
  const series = (name: string, labels: object, value: number) =>
    `${name} ${JSON.stringify(Object.entries(labels).sort())} ${value}`;
  const parsed = parsePrometheusTextFormat(withoutHistograms(text)).flatMap(({ name, metrics }) =>
    metrics.map(({ labels = {}, value }) => series(name, labels, Number(value))),
  );
  const lines = [...families.values()].flatMap(({ lines }) => lines);
  expect(parsed.sort()).toEqual(lines.map(({ name, labels, value }) => series(name, labels, value)).sort());
  const types = parsePrometheusTextFormat(text).map(({ name, type }) => [name, type.toLowerCase()]);
  expect(types).toEqual([...families.values()].map(({ name, type }) => [name, type]));
}
