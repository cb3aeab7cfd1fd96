import type { IndexSnapshot, LevelSnapshot, WheelSnapshot } from '../../wheel/wheel-snapshot.ts';

/**
 * Recomputes with simple loops what a wheel claims, and throws an Error that names the first false claim. Slots are
 * recomputed with BigInt arithmetic, counts by counting, minima by reading everything.
 */
export function checkInvariants(snapshot: WheelSnapshot): void {
  const { index, timers } = snapshot;
  const filed = new Map<number, number>();
  for (const list of index.levels.flatMap((level) => level.lists)) {
    const { entries, live } = list;
    require(live === entries.length, `slot ${list.index} counts its ${entries.length} timers`, live);
    for (const { slot, tick, filed: inPlace } of list.entries) {
      require(!filed.has(slot), 'a slot is filed once', slot);
      require(inPlace, 'a record names the cell that holds the slot', slot);
      filed.set(slot, tick);
    }
  }
  require(filed.size === index.size && filed.size === snapshot.size, 'size counts the timers filed', snapshot.size);
  require(timers.length === filed.size, 'live ids are the timers filed', timers.length);
  for (const { slot, id } of timers) {
    require(filed.has(slot), 'a live id has its slot filed', id);
    require(Number.isSafeInteger(id) && id > 0, 'an id is a safe integer', id);
  }
  checkLevels(index);
  if (index.engine === 'cascading') checkCascading(index);
  else checkPinned(index);
  checkTime(snapshot);
}

/** The clock is in the interval of the index's tick, and before MAX_TICK. */
function checkTime({ start, precision, now, nextExpiration, index }: WheelSnapshot): void {
  const startOf = (tick: number): number => start + tick * precision;
  const end = startOf(Number.MAX_SAFE_INTEGER);
  const next = startOf(index.nextTick);
  const expected = next < end ? next : undefined;
  require(nextExpiration === expected, 'nextExpiration is the time of the next tick that comes', nextExpiration);
  const own = startOf(index.now);
  require(now >= own, 'the clock is not behind its tick', now);
  // If doubles are coarse, the next tick may start at the same time.
  require(now < startOf(index.now + 1) || now === own, 'the index is not behind the clock', index.now);
  require(now < end, 'the clock is not beyond its last tick', now);
}

function checkLevels({ levels }: IndexSnapshot): void {
  for (const { occupied, occupiedCount, lists } of levels) {
    const found = lists.map((list) => list.index);
    require(occupied.join() === found.join(), `occupancy shows the slots that hold memory (${found})`, occupied.join());
    require(occupiedCount === found.length, 'the count of occupied slots', occupiedCount);
  }
}

/** Each entry is on the level of the highest bit in which its tick differs from now, in the slot of its own bits. */
function checkCascading(index: IndexSnapshot): void {
  const now = BigInt(index.now);
  let earliest = Number.POSITIVE_INFINITY;
  let event = Number.POSITIVE_INFINITY;
  index.levels.forEach((level, number) => {
    for (const list of level.lists) {
      for (const { tick } of list.entries) {
        require(tick >= index.now, 'nothing is filed in the past', tick);
        const [expected, at] = placeOf(BigInt(tick), now, index.levels);
        const isInPlace = expected === number && at === list.index;
        require(isInPlace, `tick ${tick} stands on level ${expected}, slot ${at}`, `${number}, ${list.index}`);
        earliest = Math.min(earliest, tick);
        event = Math.min(event, Number((BigInt(tick) / BigInt(level.width)) * BigInt(level.width)));
      }
    }
  });
  require(index.nextTick === earliest, `nextTick is the earliest tick filed (${earliest})`, index.nextTick);
  require(index.nextEvent <= event, `nextEvent is not after the first slot's start (${event})`, index.nextEvent);
}

function placeOf(tick: bigint, now: bigint, levels: readonly LevelSnapshot[]): [level: number, index: number] {
  for (let level = 0; level < levels.length - 1; level++) {
    const width = BigInt(levels[level].width);
    const slots = BigInt(levels[level].slots);
    if (tick / (width * slots) === now / (width * slots)) return [level, Number((tick / width) % slots)];
  }
  return [levels.length - 1, 0];
}

/** Each entry is in the spoke of its tick rounded up, and no spoke holds two rounds. */
function checkPinned(index: IndexSnapshot): void {
  let earliest = Number.POSITIVE_INFINITY;
  for (const { width, slots, lists } of index.levels) {
    for (const list of lists) {
      const rounds = new Set(list.entries.map(({ tick }) => Math.ceil(tick / width)));
      require(rounds.size <= 1, 'a spoke holds one round', [...rounds].join());
      for (const round of rounds) {
        require(round % slots === list.index, `round ${round} stands in its spoke`, list.index);
        const isWithinReach = round - Math.floor(index.now / width) < slots && round * width >= index.now;
        require(isWithinReach, 'a round is within reach', round);
        earliest = Math.min(earliest, round * width);
      }
    }
  }
  require(index.nextTick === earliest, `nextTick is the earliest instant (${earliest})`, index.nextTick);
  require(index.nextEvent <= earliest, `nextEvent is not after the earliest instant (${earliest})`, index.nextEvent);
}

function require(holds: boolean, claim: string, value: unknown): void {
  if (!holds) throw new Error(`Invariant broken: ${claim}; got ${String(value)}`);
}
