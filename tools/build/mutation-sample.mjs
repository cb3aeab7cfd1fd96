/**
 * A plugin of Stryker: of each file it mutates a random share of what the file consists of, that is of the members of
 * its classes and of its other statements. All mutants of the four rooms would take days. `SHARDWHEEL_MUTATED` is the
 * share, 1 if there is none; the draw depends on `SHARDWHEEL_SEED`.
 */
const share = Number(process.env.SHARDWHEEL_MUTATED ?? 1);
/** Not the seed itself: small seeds would draw small numbers first. */
let state = Math.imul(Number(process.env.SHARDWHEEL_SEED ?? 42), 0x9e3779b1) | 1;

/** The next of an xorshift, at least 0 and below 1. */
function draw() {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) / 2 ** 32;
}

/** Whether a node of the syntax tree is drawn as one: a class is not, its members are. */
function isUnit({ node, parent }) {
  const isClass = node.type === 'ClassDeclaration' || node.declaration?.type === 'ClassDeclaration';
  return parent?.type === 'ClassBody' || (parent?.type === 'Program' && !isClass);
}

export const strykerPlugins = [
  {
    kind: 'Ignore',
    name: 'sample',
    value: { shouldIgnore: (path) => (isUnit(path) && draw() >= share ? 'not drawn' : undefined) },
  },
];
