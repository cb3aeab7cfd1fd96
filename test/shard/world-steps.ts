import type { KnownTimer, LaneClient } from './lane-client.ts';
import type { LaneWorld } from './lane-world.ts';

/** One step of client, shard or world; false where it would change nothing. */
type Step = (world: LaneWorld) => boolean;
export type Steps = Readonly<Record<string, Step>>;

/** The steps of a client, by its number in the world. */
function stepsOf(client: number) {
  const onTimer =
    (number: number, act: (client: LaneClient, timer: KnownTimer, world: LaneWorld) => void): Step =>
    (world) => {
      const timer = world.clients[client].live[number];
      if (timer === undefined || world.clients[client].isGone) return false;
      act(world.clients[client], timer, world);
      return true;
    };
  const whilePresent =
    (step: (client: LaneClient, world: LaneWorld) => boolean): Step =>
    (world) =>
      !world.clients[client].isGone && step(world.clients[client], world);
  return {
    schedule: whilePresent((client, world) => client.schedule(world.time + 2)),
    publish: whilePresent((client) => {
      if (client.lane.commands.waiting === 0) return false;
      client.publish();
      return true;
    }),
    deliver: whilePresent((client) => {
      if (!client.isTold && client.lane.fired.available() === 0) return false;
      client.deliver();
      return true;
    }),
    /** A whole turn of the client that nothing here has asked for: one may come at any time, for other timers. */
    look: whilePresent((client) => {
      client.deliver();
      client.publish();
      return true;
    }),
    cancel: (number: number): Step => onTimer(number, (client, timer) => client.cancel(timer)),
    earlier: (number: number): Step =>
      onTimer(number, (client, timer, world) => client.reschedule(timer, Math.min(timer.deadline, world.time) + 1)),
    later: (number: number): Step =>
      onTimer(number, (client, timer, world) => client.reschedule(timer, Math.max(timer.deadline, world.time) + 2)),
    /** Its thread ends between two of its accesses. */
    end: whilePresent((client) => {
      client.isGone = true;
      return true;
    }),
  };
}

const { schedule, publish, deliver, look, cancel, earlier, later } = stepsOf(0);
const other = stepsOf(1);

/** A turn of the shard, or a park; where it is parked and neither rung nor due, nothing. */
const turn: Step = (world) => world.step();
const advance: Step = (world) => world.clients.some(({ live }) => live.length > 0) && world.advance(2);
const crash: Step = (world) => {
  if (world.loop === undefined) return false;
  world.crash();
  return true;
};
const rebuild: Step = (world) => {
  if (world.loop !== undefined) return false;
  world.rebuild();
  return true;
};

export const forOneTimer: Steps = {
  schedule,
  publish,
  turn,
  advance,
  deliver,
  crash,
  rebuild,
  cancel: cancel(0),
  earlier: earlier(0),
  later: later(0),
};

/** What can also happen while the other side stands still. */
export const inBetween: Steps = { look };

export const forTwoTimers: Steps = {
  ...forOneTimer,
  cancelSecond: cancel(1),
  earlierSecond: earlier(1),
  laterSecond: later(1),
};

/** One timer of each of two clients at a time, or two of the other's. */
export const forTwoClients: Steps = {
  ...forOneTimer,
  otherSchedules: other.schedule,
  otherPublishes: other.publish,
  otherDelivers: other.deliver,
  otherCancels: other.cancel(0),
  otherMovesEarlier: other.earlier(0),
  otherMovesLater: other.later(0),
  otherEnds: other.end,
};

/**
 * Where sequences begin. A timer is new; or its command is sent; or it is filed, perhaps by a shard that sleeps since;
 * or it is fired. What is late was sent when its tick had been handed over. What is full is due, and finds no room in a
 * ring of one record.
 */
export const beginnings = {
  new: ['schedule'],
  filed: ['schedule', 'publish', 'turn'],
  asleep: ['schedule', 'publish', 'turn', 'turn'],
  fired: ['schedule', 'publish', 'turn', 'advance', 'turn'],
  twoNew: ['schedule', 'schedule'],
  late: ['schedule', 'advance', 'turn', 'publish'],
  lateMove: ['schedule', 'later', 'publish', 'turn', 'earlier', 'advance', 'turn', 'publish'],
  sentAndNew: ['schedule', 'later', 'later', 'publish', 'schedule'],
  filedAndNew: ['schedule', 'publish', 'turn', 'schedule'],
  firedAndFiled: ['schedule', 'publish', 'turn', 'advance', 'schedule', 'publish', 'turn'],
  firedAndFull: ['schedule', 'schedule', 'publish', 'turn', 'publish', 'turn', 'advance', 'turn'],
  firedAndLate: ['schedule', 'publish', 'turn', 'schedule', 'advance', 'turn', 'publish'],
  bothFiled: ['schedule', 'otherSchedules', 'publish', 'otherPublishes', 'turn'],
  bothFired: ['schedule', 'otherSchedules', 'publish', 'otherPublishes', 'turn', 'advance', 'turn'],
  otherFull: [
    ...['otherSchedules', 'otherSchedules', 'otherPublishes', 'turn', 'otherPublishes', 'turn', 'schedule', 'publish'],
    ...['turn', 'advance', 'turn'],
  ],
  firedAndNew: ['schedule', 'publish', 'turn', 'advance', 'turn', 'schedule'],
};
