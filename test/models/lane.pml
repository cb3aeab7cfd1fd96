/*
 * A lane between one client and one shard on a thread: both rings, the stage, both bells, and who sleeps when.
 *
 *     Client                                                    Shard
 *     stage ─▶ record, COMMAND_TAIL ─▶ WANTS_ROOM ─▶ ring?      BELL ─▶ record, COMMAND_HEAD ─▶ filed, or late
 *     bell lowered ─▶ record, FIRED_HEAD ─▶ BLOCKED? ring       due ─▶ record, FIRED_TAIL ─▶ client's bell
 *                                                               BLOCKED, STATE ─▶ reads the rings again ─▶ sleeps
 *
 * Timers are numbered as they are staged; each is staged once, for some tick, and may be cancelled before it leaves the
 * stage. The rings are so small that they fill, and the shard's budget is 1. Each access to a shared word is a step. The shard
 * alone reads the clock, which moves when it is read, or ends a sleep.
 *
 * Must hold: commands are taken in order, and each timer is served once (assertions). Neither side sleeps while something
 * waits for it (`no_wake_lost`). Each timer is served at last (`all_served`), and the client's thread can end (no invalid end
 * state). No fairness is needed: neither side can keep the other busy without end.
 *
 * Left out: weak memory, so all steps of a process are seen in program order. Records are plain words; in the code the
 * counters of their ring, which are sequentially consistent, give them that order. Also left out: the table (timer.pml),
 * REQUEST and ANSWERED, other lanes, shards and clients, deaths, early wake-ups, the wheel's levels (`nextEvent` is exact), order
 * within a tick, the wrap of BELL, MAX_TRIES and MOST_WAKES, the halves of WAKE_TICK, a sleep without blocking.
 *
 *   publish         src/client/commands.ts: publish               turn          src/shard/shard-loop.ts: turn
 *   room            src/lane/ring.ts: room                        begin_round   src/shard/served-lane.ts: turn
 *   first_live      src/lane/command-stage.ts: firstLive          take          src/shard/ring-lane.ts: takeCommands
 *   push            src/client/commands.ts: push                  file_next     src/shard/ring-lane.ts: fileNext
 *   publish_tail    src/lane/ring.ts: publish                     release       src/lane/ring.ts: release
 *   set_wants_room  src/client/commands.ts: setWantsRoom          hand_over     src/shard/served-lane.ts: handOverLate
 *   ring_for        src/client/commands.ts: ringFor               fire          src/shard/served-lane.ts: due
 *   ring            src/lane/doorbell.ts: ring                    publish_fired src/shard/served-lane.ts: publish
 *   ring_if_asleep  src/lane/doorbell.ts: ringIfAsleepUntilAfter  ring_client   src/lane/doorbell.ts: ring
 *   lower           src/lane/doorbell.ts: lower                   is_blocked    src/shard/served-lane.ts: isBlocked
 *   heard           src/client/turn-clock.ts: now                 next_event    src/shard/shard.ts: nextEvent
 *   deliver         src/client/delivery.ts: deliver               announce      src/shard/shard-loop.ts: announce
 *   take_fired      src/client/client-lane.ts: takeFired          has_news      src/shard/served-lane.ts: hasNews
 *   release_fired   src/client/client-lane.ts: releaseFired       time_until    src/shard/shard-loop.ts: timeUntil
 *   start           src/client/client.ts: schedule                wait          src/lane/doorbell.ts: wait
 *   cancel          src/client/client.ts: cancel                  wake          src/shard/shard-loop.ts: wake
 */

#define TIMERS 3
#define COMMANDS 2 /* capacity of the command ring */
#define FIRED 1 /* capacity of the fired ring */
#define LAST 2 /* ticks run from 0 to LAST; timers are due from 1 on */
#define NEVER (LAST + 1)
#define WRAP 3 /* counters are free-running and wrap at a power of two above the capacities */

#define BETWEEN(head, tail) ((tail - head) & WRAP)

/* The client's words. */
byte commandTail, firedHead;
bool wantsRoom;
byte commandCells[COMMANDS];

/* The shard's words. */
byte commandHead, firedTail;
bool blocked;
byte firedCells[FIRED];

/* The doorbell. `rung`: BELL has changed since the shard last read it. `asleep`: the kernel holds the shard for a notification. */
bool rung, asleep;
mtype = { AWAKE, UNTIL_TICK, UNTIL_RUNG };
mtype state = AWAKE;
byte wakeTick;

/* The client's bell, the wait on it, and the turn that comes after it. */
bool raised, waiting = true, woken;
bool turnDue;

/* Where each timer is, and when it is due. Only assertions read the places SENT and beyond. */
mtype = { NEW, STAGED, SENT, TAKEN, PUSHED, DELIVERED, CANCELLED };
mtype place[TIMERS] = NEW;
byte due[TIMERS];
byte born, staged; /* the stage holds the timers from `staged` up to `born` */

/* Whether a timer is in a set: one bit for each. */
#define HAS(set, i) ((set >> (i)) & 1)

/* ---- Client ---- */

inline ring() {
  rung = true;
  asleep = false
}

inline ring_if_asleep(tick) {
  if
  :: state == AWAKE -> skip
  :: state == UNTIL_RUNG -> ring()
  :: state == UNTIL_TICK ->
    if
    :: wakeTick <= tick -> skip
    :: else -> ring()
    fi
  fi
}

inline ring_for(tick) {
  seenHead = commandHead;
  if
  :: 2 * (COMMANDS - BETWEEN(seenHead, tail)) < COMMANDS -> ring()
  :: else -> ring_if_asleep(tick)
  fi
}

inline set_wants_room(wanted) {
  atomic {
    if
    :: wantsRoom != (wanted) -> wantsRoom = wanted
    :: else
    fi
  }
}

inline room() {
  if
  :: COMMANDS - BETWEEN(seenHead, tail) < born - staged -> seenHead = commandHead
  :: else
  fi
}

/* Drops the stale ones at the front of the stage. */
inline first_live() {
  do
  :: staged < born && place[staged] == CANCELLED -> staged++
  :: else -> break
  od
}

/* In one step: the records are nobody else's before `publish_tail`. */
inline push() {
  atomic {
    first_live();
    do
    :: staged < born && BETWEEN(seenHead, tail) < COMMANDS ->
      commandCells[tail % COMMANDS] = staged;
      place[staged] = SENT;
      tail = (tail + 1) & WRAP;
      if
      :: due[staged] < earliest -> earliest = due[staged]
      :: else
      fi;
      count++;
      staged++;
      first_live()
    :: else -> break
    od
  }
}

inline publish_tail() {
  if
  :: count > 0 -> commandTail = tail
  :: else
  fi
}

inline publish() {
  earliest = NEVER;
  count = 0;
  if
  :: staged == born -> set_wants_room(false)
  :: else ->
    room();
    push();
    publish_tail();
    set_wants_room(staged < born);
    if
    :: staged < born -> ring()
    :: staged == born && count > 0 -> ring_for(earliest)
    :: else
    fi
  fi;
  earliest = 0;
  count = 0
}

inline lower() {
  raised = false;
  do
  :: atomic { waiting || woken -> break }
  :: atomic { !waiting && !woken && !raised -> waiting = true; break }
  :: atomic { !waiting && !woken && raised -> raised = false }
  od
}

inline take_fired() {
  d_step {
    record = firedCells[head % FIRED];
    assert(place[record] == PUSHED);
    place[record] = DELIVERED;
    due[record] = 0;
    firedCells[head % FIRED] = 0;
    record = 0
  };
  head = (head + 1) & WRAP
}

inline release_fired() {
  firedHead = head;
  if
  :: blocked -> ring()
  :: else
  fi
}

inline deliver() {
  lower();
  count = BETWEEN(head, firedTail);
  if
  :: count > 0 ->
    do
    :: count > 0 -> take_fired(); count--
    :: else -> break
    od;
    release_fired()
  :: else
  fi;
  isLeft = (firedTail != head)
}

inline start() {
  d_step { place[born] = STAGED; born++; turnDue = true }
}

inline cancel(i) {
  d_step { place[i] = CANCELLED; due[i] = 0; turnDue = true }
}

#define OVER(i) (place[i] == DELIVERED || place[i] == CANCELLED)
#define ALL_OVER (OVER(0) && OVER(1) && OVER(2))

proctype Client() {
  byte tail, seenHead, head, record, count, earliest;
  bool isLeft;
  do
  :: born < TIMERS ->
    if
    :: due[born] = 1
    :: born > 0 -> due[born] = LAST
    fi;
    start()
  :: place[1] == STAGED -> cancel(1)
  :: atomic { woken -> woken = false; turnDue = true } /* heard */
  :: turnDue ->
    deliver();
    publish();
    d_step { turnDue = isLeft; isLeft = false }
  :: ALL_OVER && !turnDue && !woken && staged == born -> break
  od
}

/* ---- Shard ---- */

inline ring_client() {
  atomic { wasDown = !raised; raised = true };
  if
  :: wasDown ->
    atomic {
      if
      :: waiting -> waiting = false; woken = true
      :: else
      fi
    }
  :: else
  fi;
  wasDown = false
}

inline begin_round() {
  if
  :: roundLeft == 0 && late == 0 ->
    if
    :: clock < LAST -> clock++
    :: skip
    fi;
    roundTick = clock;
    roundLeft = BETWEEN(taken, commandTail)
  :: else
  fi
}

inline file_next() {
  assert(place[record] == SENT && record >= expected);
  expected = record + 1;
  place[record] = TAKEN;
  if
  :: due[record] > reached -> filed = filed | (1 << record)
  :: else -> late = late | (1 << record)
  fi
}

inline release() {
  commandHead = taken
}

inline take() {
  d_step { record = commandCells[taken % COMMANDS]; file_next(); commandCells[taken % COMMANDS] = 0; record = 0 };
  taken = (taken + 1) & WRAP;
  release();
  roundLeft--
}

/* Whether a filed timer is due at `tick` or before. */
#define DUE_BY(i, tick) (HAS(filed, i) && due[i] <= tick)
#define ANY_DUE_BY(tick) (DUE_BY(0, tick) || DUE_BY(1, tick) || DUE_BY(2, tick))

inline fire(i) {
  firedCells[pushed % FIRED] = i;
  assert(place[i] == TAKEN);
  place[i] = PUSHED;
  pushed = (pushed + 1) & WRAP
}

inline hand_over() {
  if
  :: left && late ->
    d_step {
      record = 0;
      do
      :: HAS(late, record) -> break
      :: else -> record++
      od;
      late = late & ~(1 << record);
      fire(record);
      record = 0
    };
    left = false
  :: left && !late && ANY_DUE_BY(roundTick) ->
    d_step {
      record = 0;
      do
      :: DUE_BY(record, roundTick) -> break
      :: else -> record++
      od;
      filed = filed & ~(1 << record);
      fire(record);
      record = 0
    };
    isDone = !ANY_DUE_BY(roundTick)
  :: left && !late && !ANY_DUE_BY(roundTick) -> isDone = true
  :: else
  fi;
  if
  :: isDone -> reached = roundTick
  :: else
  fi;
  left = false
}

inline publish_fired() {
  atomic {
    if
    :: firedTail != pushed -> firedTail = pushed; news = true
    :: else
    fi
  };
  if
  :: news || wantsRoom -> ring_client()
  :: else
  fi;
  news = false
}

inline is_blocked() {
  isFull = (BETWEEN(firedHead, pushed) == FIRED);
  if
  :: isFull == blocked -> skip
  :: atomic { isFull != blocked -> blocked = isFull };
    isFull = (BETWEEN(firedHead, pushed) == FIRED)
  fi
}

inline next_event() {
  is_blocked();
  d_step {
    if
    :: isFull -> next = NEVER
    :: !isFull && late -> next = roundTick
    :: !isFull && !late && ANY_DUE_BY(1) -> next = 1
    :: !isFull && !late && !ANY_DUE_BY(1) && ANY_DUE_BY(LAST) -> next = LAST
    :: else -> next = NEVER
    fi;
    if
    :: !late -> roundTick = 0
    :: else
    fi;
    isFull = false
  }
}

inline announce() {
  if
  :: next != NEVER ->
    wakeTick = next;
    state = UNTIL_TICK
  :: else ->
    state = UNTIL_RUNG
  fi
}

inline has_news() {
  isAwake = (late == 0 && commandTail != taken)
}

inline time_until() {
  if
  :: next <= clock -> isAwake = true
  :: else
  fi
}

proctype Shard() {
  byte clock, taken, expected, pushed, reached, filed, late, roundTick, roundLeft, record, next;
  bool left, isDone, isFull, news, wasDown, isAwake;
turn:
  rung = false;
again:
  begin_round();
  if
  :: roundLeft > 0 ->
    take();
    if
    :: roundLeft > 0 -> goto turn
    :: else
    fi
  :: else
  fi;
  left = (BETWEEN(firedHead, pushed) < FIRED);
  hand_over();
  publish_fired();
  if
  :: !isDone ->
    is_blocked();
    if
    :: !isFull -> goto turn
    :: else -> isFull = false
    fi
  :: else -> isDone = false
  fi;
park:
  next_event();
  announce();
  has_news();
  time_until();
  if
  :: isAwake ->
    state = AWAKE;
    next = 0;
    isAwake = false;
    goto turn
  :: else
  fi;
  /* wait */
  atomic {
    if
    :: rung -> skip
    :: else -> asleep = true
    fi
  };
end_asleep:
  atomic {
    if
    :: !asleep
    :: asleep && next != NEVER -> asleep = false; clock = next
    fi;
    next = 0
  };
  state = AWAKE; /* wake */
  if
  :: rung -> goto turn
  :: goto turn
  :: !rung -> goto again
  fi
}

init {
  atomic { run Client(); run Shard() }
}

/* Both sides rest: the client has no turn ahead, and the shard sleeps. */
#define REST (asleep && !rung && !turnDue && !woken)
#define OVERSLEPT(i) ((place[i] == SENT || place[i] == TAKEN) && (state == UNTIL_RUNG || due[i] < wakeTick))
#define WAITS (staged < born || firedTail != firedHead || OVERSLEPT(0) || OVERSLEPT(1) || OVERSLEPT(2))

ltl no_wake_lost { [] !(REST && WAITS) }
ltl all_served { <> ALL_OVER }
