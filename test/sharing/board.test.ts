import { describe, expect, test, vi } from 'vitest';
import { Board, MAX_CLIENTS, type Membership } from '../../src/sharing/board.ts';

const newBoard = (hosts = 2): Board => new Board(Board.allocate(hosts), hosts);

function leave(member: Membership | undefined): void {
  member?.pulse.release();
  member?.entry.free();
}

describe('a board', () => {
  test('tells of each host what serves it, and of what is wanted', () => {
    const board = newBoard();
    const other = new Board(board.memory, 2);
    expect(other.serverOf(1)).toEqual({ by: 'nothing' });
    board.setServer(1, { by: 'thread', epoch: 7 });
    expect([other.serverOf(0), other.serverOf(1)]).toEqual([{ by: 'nothing' }, { by: 'thread', epoch: 7 }]);
    board.setServer(0, { by: 'clients' });
    expect(other.serverOf(0)).toEqual({ by: 'clients' });
    expect([board.isWanted(0), board.isWanted(1)]).toEqual([false, false]);
    other.want(1);
    expect([board.isWanted(0), board.isWanted(1)]).toEqual([false, true]);
    expect(other.isClosed).toBe(false);
    board.close();
    expect(other.isClosed).toBe(true);
  });

  test('gives every client a serial of its own, and an entry that others see', () => {
    const board = newBoard();
    const members = [5, 6, 7].map((thread) => board.join(thread));
    expect(board.clients().map(({ serial, thread }) => [serial, thread])).toEqual([
      [1, 5],
      [2, 6],
      [3, 7],
    ]);
    leave(members[1]);
    expect(board.clients().map(({ serial }) => serial)).toEqual([1, 3]);
    expect(members[1]?.entry.isJoined).toBe(false);
    const next = board.join(8);
    expect(next?.entry.serial).toBe(4);
    expect(members[1]?.entry.isJoined).toBe(false); // the same place, another client
    members[1]?.entry.free(); // too late: it is not its entry any more
    expect(board.clients().map(({ serial }) => serial)).toEqual([1, 4, 3]);
    for (const member of [...members, next]) member?.pulse.release();
  });

  test('a factor is applied everywhere when all have told so, but the one that asks, and those that are gone', () => {
    const board = newBoard();
    const owner = board.keepOwnersPulse();
    const members = [1, 2].map((thread) => board.join(thread));
    board.factors.set('a', 0.5);
    const { changes } = board.factors;
    const asking = members[0]?.entry.serial as number;
    expect(board.isScaled(changes, asking)).toBe(false);
    members[1]?.entry.reportScaled(changes);
    expect(board.isScaled(changes, asking)).toBe(false); // the owner has not
    board.reportOwnerScaled(changes);
    expect([board.isScaled(changes, asking), board.isScaled(changes, 0)]).toEqual([true, false]);
    leave(members[0]);
    expect(board.isScaled(changes, 0)).toBe(true);
    board.factors.set('a', 0.25);
    expect(board.isScaled(board.factors.changes, 0)).toBe(false);
    const late = board.join(3); // whose labels are made with what is there
    expect(late?.entry.hasScaled(board.factors.changes)).toBe(true);
    for (const member of [members[1], late]) leave(member);
    owner.release();
  });

  test('counts and latenesses are those of the entry, from nothing for each client', () => {
    const board = newBoard();
    const member = board.join(1);
    const counts = {
      size: 1,
      scheduled: 7,
      rescheduled: 2,
      cancelled: 8,
      delivered: 3,
      stale: 4,
      highWater: 5,
      latest: 2.5,
      labels: 6,
    };
    member?.entry.setCounts(counts);
    member?.entry.latenesses().set([1, 0, 2], 300);
    expect(board.clients()[0].counts()).toEqual(counts);
    expect(board.clients()[0].lateness().summary()).toMatchObject({ count: 3, max: 2.5 });
    leave(member);
    const next = board.join(2);
    expect(next?.entry.counts()).toEqual(Object.fromEntries(Object.keys(counts).map((name) => [name, 0])));
    next?.pulse.release();
  });

  test(`takes ${MAX_CLIENTS} clients and no more, and as many again when they have left`, () => {
    const board = newBoard(1);
    for (let round = 0; round < 2; round++) {
      const members = Array.from({ length: MAX_CLIENTS }, () => board.join(1));
      expect(members.every((member) => member !== undefined)).toBe(true);
      expect(board.join(1)).toBeUndefined();
      members.forEach(leave);
      expect(board.clients()).toEqual([]);
    }
  });

  test('an entry whose thread ended while it joined is free again after a minute, and not before', () => {
    const board = newBoard(1);
    const words = new Int32Array(board.memory);
    const first = 3 * 32; // two groups, and one for the host
    words[first] = -99;
    words[first + 1] = (Number(process.hrtime.bigint() / 1_000_000n) | 0) - 30_000;
    const second = board.join(1);
    words[first + 1] -= 31_000;
    const third = board.join(1);
    expect(board.clients().map(({ serial }) => serial)).toEqual([2, 1]); // the third takes the first place
    second?.pulse.release();
    third?.pulse.release();
  });

  test('a client that leaves while the board is read is read as itself or not at all, never as the owner', () => {
    const load = Atomics.load;
    let cases = 0;
    for (let leavesAfter = 1; leavesAfter <= 12; leavesAfter++) {
      const board = newBoard();
      const member = board.join(7) as Membership;
      let loads = 0;
      const spy = vi.spyOn(Atomics, 'load').mockImplementation(((...given: Parameters<typeof load>) => {
        const value = load(...given);
        loads += 1;
        if (loads === leavesAfter) leave(member);
        return value;
      }) as typeof load);
      const seen = board.clients();
      spy.mockRestore();
      expect(seen.map(({ serial }) => serial).filter((serial) => serial !== member.entry.serial)).toEqual([]);
      cases += seen.length;
    }
    expect(cases).toBeGreaterThan(5);
  });
});
