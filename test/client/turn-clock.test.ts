import { afterEach, describe, expect, test } from 'vitest';
import { ClientTime } from '../../src/client/client-time.ts';
import { KeepAlive } from '../../src/client/keep-alive.ts';
import { type ClientTurn, TurnClock } from '../../src/client/turn-clock.ts';
import { SharedClock } from '../../src/time/shared-clock.ts';
import { TickScale } from '../../src/time/tick-scale.ts';
import { turn as loopTurn } from '../fixtures/event-loop.ts';

const STATES = ['idle', 'asked', 'turning', 'again', 'left', 'missed', 'over'];
/** Every change of state that there may be, and has been in these tests. */
const EXPECTED = [
  'idle asked',
  'idle turning',
  'idle over',
  'asked turning',
  'asked over',
  'turning again',
  'turning idle',
  'turning left',
  'turning missed',
  'turning over',
  'again asked',
  'again left',
  'again missed',
  'again over',
  'left turning',
  'left over',
  'missed turning',
  'missed over',
];
const seen = new Set<string>();
let latest: TurnClock | undefined;

afterEach(() => {
  if (latest !== undefined && Reflect.get(latest, 'state') !== 6) latest.end();
});

/** A client whose turns do what the test says, on a manual clock: its native timer never comes by itself in time. */
class Steered {
  readonly log: string[] = [];
  readonly time: ClientTime;
  readonly clock: TurnClock;
  /** What the parts of the next turn do. */
  inBegin = (): boolean => false;
  inDelivery = (): boolean => false;
  inHome = (): boolean => false;
  inFinish = (): number => Number.POSITIVE_INFINITY;
  private readonly shared: SharedClock;

  constructor() {
    this.shared = new SharedClock(SharedClock.allocate(true));
    this.time = new ClientTime(this.shared, new TickScale(1));
    const { log, time } = this;
    const client: ClientTurn = {
      visitsLanes: true,
      begin: (isAsked) => {
        time.beginTurn();
        log.push(isAsked ? 'asked' : 'timer');
        return this.inBegin();
      },
      beginPhase: () => {
        time.beginTurn();
        log.push('phase');
      },
      delivery: {
        deadline: 0,
        deliver: (polledFrom) => {
          log.push(`deliver ${polledFrom}`);
          return this.inDelivery();
        },
      },
      home: {
        label: { size: 1 },
        run: (isPhase) => {
          log.push(isPhase ? 'due' : 'rest');
          return this.inHome();
        },
      },
      finish: () => this.inFinish(),
    };
    this.clock = new TurnClock(client, time, new KeepAlive({ size: 1 }));
    latest = this.clock;
    const enter = Reflect.get(this.clock, 'enter') as (state: number) => void;
    Reflect.set(this.clock, 'enter', (state: number) => {
      const before = this.state;
      enter.call(this.clock, state);
      seen.add(`${before} ${STATES[state]}`);
    });
  }

  get state(): string {
    return STATES[Reflect.get(this.clock, 'state') as number];
  }

  at(time: number): void {
    this.shared.set(time);
  }

  /** A turn as the loop brings it. */
  come(by: 'timer' | 'immediate'): void {
    (Reflect.get(this.clock, 'turn') as (isTimer: boolean) => void)(by === 'timer');
  }

  taken(): string[] {
    return this.log.splice(0);
  }
}

/** In the given state, with a log that is empty. */
function steered(state: 'idle' | 'asked' | 'left' | 'missed'): Steered {
  const world = new Steered();
  if (state === 'asked') world.clock.now();
  if (state === 'left' || state === 'missed') {
    world.clock.now();
    world.inDelivery = () => true;
    world.at(10);
    world.come('immediate');
    world.inDelivery = () => false;
  }
  if (state === 'missed') world.come('timer');
  expect(world.state).toBe(state);
  world.taken();
  return world;
}

const never = 'deliver -Infinity';

describe('a turn', () => {
  test.each([
    ['idle', 'timer', ['timer', never, 'due']],
    ['asked', 'immediate', ['asked', never, 'due']],
    ['asked', 'timer', ['asked', never, 'due']],
    ['left', 'immediate', ['asked', 'deliver 10', 'due']],
    ['missed', 'immediate', ['asked', 'deliver 10', 'due']],
    ['missed', 'timer', ['asked', 'deliver 10', 'due']],
  ] as const)('from %s by the %s does all, and nothing is left', (from, by, parts) => {
    const world = steered(from);
    world.come(by);
    expect([world.state, world.taken()]).toEqual(['idle', parts]);
    expect(world.clock.comesBy).toBe(Number.POSITIVE_INFINITY);
  });

  test('during a rest, the timer brings drop-in timers their phase, and what is left stays for after the poll', () => {
    const world = steered('left');
    world.at(12);
    world.come('timer');
    // The lanes were not visited, whatever the client says.
    expect([world.state, world.taken().filter((part) => part !== 'deliver 10')]).toEqual(['missed', ['phase', 'due']]);
    world.come('immediate');
    expect([world.state, world.taken()]).toEqual(['idle', ['asked', 'deliver 10', 'due']]);
  });

  test('that leaves a rest asks for the native timer, in case no immediate comes', () => {
    expect(steered('left').clock.comesBy).toBe(14);
    expect(steered('missed').clock.comesBy).toBe(14);
  });

  test.each(['left', 'missed'] as const)('of a rest may leave another: from %s', (from) => {
    const world = steered(from);
    world.inHome = () => true;
    world.at(20);
    world.come('immediate');
    expect(world.state).toBe('left');
    world.taken();
    world.inHome = () => false;
    world.come('immediate');
    expect(world.taken()).toEqual(['asked', 'deliver 20', 'due']);
  });

  test.each([
    ['and nothing is left', false, 'asked'],
    ['and something is left', true, 'left'],
  ])('in which another is asked for, %s', (_, isLeft, state) => {
    const world = steered('asked');
    world.inDelivery = () => {
      world.clock.now();
      world.clock.now();
      return isLeft;
    };
    world.come('immediate');
    expect(world.state).toBe(state);
  });

  test('of drop-in timers alone, in which another is asked for, leaves the rest where it is', () => {
    const world = steered('left');
    world.inHome = () => {
      world.clock.now();
      return false;
    };
    world.come('timer');
    expect(world.state).toBe('missed');
  });

  test('says at its end by when the next comes; what is asked meanwhile is without effect', () => {
    const world = steered('idle');
    world.inDelivery = () => {
      world.clock.by(3);
      return false;
    };
    world.inFinish = () => 500;
    world.come('timer');
    expect([world.state, world.clock.comesBy]).toEqual(['idle', 500]);
    world.clock.by(600);
    expect(world.clock.comesBy).toBe(500);
    world.clock.by(400);
    expect(world.clock.comesBy).toBe(400);
  });

  test.each(['inBegin', 'inDelivery', 'inHome', 'inFinish'] as const)('that throws %s leaves a rest', (part) => {
    const world = steered('asked');
    const { [part]: before } = world;
    world[part] = () => {
      throw new Error('of the program');
    };
    expect(() => world.come('immediate')).toThrow('of the program');
    expect(world.state).toBe('left');
    Object.assign(world, { [part]: before });
    world.taken();
    world.come('immediate');
    expect([world.state, world.taken()]).toEqual(['idle', ['asked', 'deliver 0', 'due']]);
  });

  test('tells who waits for that when nothing is left, and only then', () => {
    const world = steered('asked');
    let idle = 0;
    world.clock.onIdle = () => {
      idle += 1;
    };
    world.inHome = () => true;
    world.come('immediate');
    expect(idle).toBe(0);
    world.inHome = () => false;
    world.come('immediate');
    expect(idle).toBe(1);
  });
});

describe('the end', () => {
  test.each(['idle', 'asked', 'left', 'missed'] as const)('from %s is for good', async (from) => {
    const world = steered(from);
    world.clock.end();
    world.clock.now();
    world.clock.by(1);
    world.come('timer');
    world.come('immediate');
    await loopTurn();
    await loopTurn();
    expect([world.state, world.taken(), world.clock.turns]).toEqual(['over', [], world.clock.turns]);
  });

  test.each(['inBegin', 'inDelivery', 'inHome', 'inFinish'] as const)('%s of a turn lets it end', (part) => {
    for (const isAgain of [false, true]) {
      const world = steered('asked');
      Object.assign(world, {
        [part]: () => {
          if (isAgain) world.clock.now();
          world.clock.end();
          return false;
        },
      });
      world.come('immediate');
      expect(world.state).toBe('over');
    }
  });
});

test('every change of state that may be has been', () => {
  expect([...seen].sort()).toEqual([...EXPECTED].sort());
});
