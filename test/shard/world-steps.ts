import type { KnownTimer, LaneWorld } from './lane-world.ts';

/** One step of client, shard or world; false where it would change nothing. */
export type Step = (world: LaneWorld) => boolean;
export type Steps = Readonly<Record<string, Step>>;

const onTimer =
  (number: number, act: (world: LaneWorld, timer: KnownTimer) => void): Step =>
  (world) => {
    const timer = world.live[number];
    if (timer !== undefined) act(world, timer);
    return timer !== undefined;
  };

const cancel = (number: number): Step => onTimer(number, (world, timer) => world.cancel(timer));
const earlier = (number: number): Step =>
  onTimer(number, (world, timer) => world.reschedule(timer, Math.min(timer.deadline, world.time) + 1));
const later = (number: number): Step =>
  onTimer(number, (world, timer) => world.reschedule(timer, Math.max(timer.deadline, world.time) + 2));

const schedule: Step = (world) => world.schedule(world.time + 2);
const publish: Step = (world) => {
  if (world.lane.commands.waiting === 0) return false;
  world.publish();
  return true;
};
/** A turn of the shard, or a park; where it is parked and neither rung nor due, nothing. */
const turn: Step = (world) => world.step();
const advance: Step = (world) => {
  return world.live.length > 0 && world.advance(2);
};
const deliver: Step = (world) => {
  if (!world.isTold && world.lane.firedCount() === 0) return false;
  world.deliver();
  return true;
};
/** A whole turn of the client that nobody has asked for, as one comes some ms after each change. */
const look: Step = (world) => {
  world.deliver();
  world.publish();
  return true;
};
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

/**
 * Where sequences begin. A timer is new; or its command is sent; or it is filed, perhaps by a shard that sleeps since; or
 * it is fired. What is late was sent when its tick had been handed over. What is full is due, and finds no room in a
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
  firedAndNew: ['schedule', 'publish', 'turn', 'advance', 'turn', 'schedule'],
};
