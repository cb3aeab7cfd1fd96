// The order of versions by semver.org, without build metadata.
const FORM =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-z-][\da-z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-z-][\da-z-]*))*))?$/i;

export const isVersion = (text) => FORM.test(text);

/** Whether one version comes after another. */
export function isAbove(version, other) {
  const [a, b] = [partsOf(version), partsOf(other)];
  for (let i = 0; i < 3; i++) if (a.numbers[i] !== b.numbers[i]) return a.numbers[i] > b.numbers[i];
  // a release is above its candidates
  if (a.pre.length === 0 || b.pre.length === 0) return a.pre.length === 0 && b.pre.length > 0;
  const at = a.pre.findIndex((part, i) => part !== b.pre[i]);
  if (at < 0) return false; // the same, or the beginning of the other
  if (at >= b.pre.length) return true;
  const [x, y] = [a.pre[at], b.pre[at]];
  if (typeof x === typeof y) return x > y;
  return typeof x === 'string'; // numbers are below words
}

function partsOf(version) {
  const [, major, minor, patch, pre] = FORM.exec(version);
  const identifiers = pre === undefined ? [] : pre.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  return { numbers: [major, minor, patch].map(Number), pre: identifiers };
}
