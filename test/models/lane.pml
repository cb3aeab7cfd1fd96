/*
 * A lane between one client and one shard on a thread: both rings, the stage, both bells, and who sleeps when.
 *
 *     Client                                                    Shard
 *     stage ─▶ record, COMMAND_TAIL ─▶ WANTS_ROOM ─▶ ring?      BELL ─▶ record, COMMAND_HEAD ─▶ filed, or late
 *     bell lowered ─▶ record, FIRED_HEAD ─▶ BLOCKED? ring       due ─▶ record, FIRED_TAIL ─▶ client's bell
 *                                                               BLOCKED, STATE ─▶ reads the rings again ─▶ sleeps
 *
 * Timers are numbered as they are staged; each is staged once, for some tick, and may be cancelled before it leaves the
 * stage. The rings are so small that they fill, and the shard's budget is 1. Each access to a shared word is a step.
 *
 * Commands wait in the stage until the earliest of them is due in LEAD ticks, the stage is full, or somebody asks: `ask` waits until all
 * has caught up. The client rests until a turn is asked for, or its native timer's time has come. The clock moves when the shard reads
 * it, and when it ends a rest of either side. A turn that comes for another reason leaves in the stage what is not wanted.
 *
 * Must hold: commands are taken in order, and each timer is served once; a stage grows beyond what is full only behind a full ring; who
 * has asked finds all delivered that was due when he asked (assertions). The client never rests beyond LEAD before a staged command is
 * due, and neither side sleeps while something waits for it (`no_wake_lost`). Each timer is served at last, and who asks is answered
 * (`all_served`), and the client's thread can end (no invalid end state). No fairness is needed: neither side can keep the other busy
 * without end.
 *
 * Left out: weak memory, so all steps of a process are seen in program order. Records are plain words; in the code the
 * counters of their ring, which are sequentially consistent, give them that order. Also left out: the table (timer.pml), other lanes,
 * shards and clients, lanes of this thread, deaths, early wake-ups, the wheel's levels (`next_event` is exact), order within a tick, the
 * wrap of BELL, MAX_TRIES and MOST_WAKES, the halves of WAKE_TICK, a sleep without blocking, the ring at half a ring, NEAR, budgets of a
 * delivery, `ioFirst`; and lanes with few entries, all in one list: there a round begins though late ones wait for room.
 *
 *   publish         src/client/commands.ts: publish               turn          src/shard/shard-loop.ts: turn
 *   room            src/lane/ring.ts: room                        begin_round   src/shard/served-lane.ts: turn
 *   first_live      src/lane/command-stage.ts: firstLive          take          src/shard/ring-lane.ts: takeCommands
 *   push            src/client/commands.ts: push                  file_next     src/shard/ring-lane.ts: fileNext
 *   publish_tail    src/lane/ring.ts: publish                     release       src/lane/ring.ts: release
 *   set_wants_room  src/client/commands.ts: setWantsRoom          hand_over     src/shard/served-lane.ts: handOverListed
 *   ring_for        src/client/commands.ts: ringFor               fire          src/shard/served-lane.ts: due
 *   ring            src/lane/doorbell.ts: ring                    publish_fired src/shard/served-lane.ts: publish
 *   ring_if_asleep  src/lane/doorbell.ts: ringIfAsleepUntilAfter  ring_client   src/lane/doorbell.ts: ring
 *   lower           src/lane/doorbell.ts: lower                   is_blocked    src/shard/served-lane.ts: isBlocked
 *   heard           src/client/turn-clock.ts: now                 next_event    src/shard/shard.ts: nextEvent
 *   deliver         src/client/delivery.ts: deliver               announce      src/shard/shard-loop.ts: announce
 *   take_fired      src/client/delivery.ts: examineNext           has_news      src/shard/served-lane.ts: hasNews
 *   release_fired   src/client/client-lane.ts: releaseFired       time_until    src/shard/shard-loop.ts: timeUntil
 *   start           src/client/client.ts: schedule                wait          src/lane/doorbell.ts: wait
 *   cancel          src/client/client.ts: cancel                  wake          src/shard/shard-loop.ts: park
 *   staged_earlier  src/client/client-turns.ts: stagedEarlier     noted         src/shard/served-lane.ts: noteRequest
 *   make_room       src/client/commands.ts: makeRoom              answered      src/shard/served-lane.ts: publish
 *   begin, finish   src/client/client-turns.ts: begin, finish     comesBy       src/client/turn-clock.ts: by
 *   ask             src/client/client-turns.ts: publish           check         src/client/quiescence.ts: check
 */

#define TIMERS 2
#define COMMANDS 1 /* capacity of the command ring */
#define FIRED 1 /* capacity of the fired ring */
#define LAST 2 /* ticks run from 0 to LAST; timers are due from 1 on */
#define NEVER (LAST + 1)
#define LEAD 1 /* ticks before a due tick by which its command is published */
#define WRAP 3 /* counters are free-running and wrap at a power of two above the capacities */

#define BETWEEN(head, tail) ((tail - head) & WRAP)

byte clock;

/* The client's words. `request` and `answered` count, of which one bit is enough. */
byte commandTail, firedHead;
bool wantsRoom, request;
byte commandCells[COMMANDS];

/* The shard's words. */
byte commandHead, firedTail;
bool blocked, answered;
byte firedCells[FIRED];

/* The doorbell. `rung`: BELL has changed since the shard last read it. `asleep`: the kernel holds the shard for a notification. */
bool rung, asleep;
mtype = { AWAKE, UNTIL_TICK, UNTIL_RUNG };
mtype state = AWAKE;
byte wakeTick;

/* The client's bell, the wait on it, and the turn that is asked for. */
bool raised, waiting = true, woken;
bool turnDue;

/* The time for which the native timer is set; 0 during a turn. `calling`: the program is within a call. */
byte comesBy = NEVER;
bool calling;

/* Whether somebody waits until all has caught up. */
mtype = { UNASKED, ASKING, REACHED };
mtype quiet = UNASKED;

/* Where each timer is, and when it is due. Only assertions read the places SENT and beyond. */
mtype = { NEW, STAGED, SENT, TAKEN, PUSHED, DELIVERED, CANCELLED };
mtype place[TIMERS] = NEW;
byte due[TIMERS];
byte born, staged; /* the stage holds the timers from `staged` up to `born` */

/* Whether a timer is in a set: one bit for each. */
#define HAS(set, i) ((set >> (i)) & 1)

/* ---- Client ---- */

#define OVER(i) (place[i] == DELIVERED || place[i] == CANCELLED)
#define ALL_OVER (OVER(0) && OVER(1))
#define CAUGHT_UP(i) (place[i] == NEW || OVER(i) || due[i] > askedAt)

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
  ring_if_asleep(tick)
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
  atomic {
    if
    :: COMMANDS - BETWEEN(seenHead, tail) < born - staged -> seenHead = commandHead
    :: else
    fi
  }
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
      isSent = (quiet == ASKING);
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
  count = BETWEEN(head, firedTail);
  if
  :: count > 0 ->
    do
    :: count > 0 -> take_fired(); count--
    :: else -> break
    od;
    release_fired()
  :: else
  fi
}

/* The clock is read once. What is wanted now is published; a turn may publish what is near as well, or leave it. */
inline begin() {
  atomic {
    if
    :: !turnDue && comesBy > clock -> clock = comesBy /* the native timer has come */
    :: else
    fi;
    turnDue = false;
    comesBy = 0;
    if
    :: stagedBy <= clock + LEAD -> isWanted = true
    :: stagedBy > clock + LEAD
    fi;
    stagedBy = (isWanted -> NEVER : stagedBy);
    isWanted = isWanted || wantsRoom
  };
  lower();
  if
  :: isWanted -> isWanted = false; publish()
  :: else
  fi
}

/* A turn says when the next has to come. */
inline finish() {
  comesBy = (stagedBy == NEVER -> NEVER : stagedBy - LEAD)
}

/* The stage is full, if it holds anything: full stages are small here, or large. */
inline make_room() {
  if
  :: atomic { born > staged ->
      calling = true;
      isFull = true;
      if
      :: BETWEEN(seenHead, tail) == COMMANDS -> seenHead = commandHead
      :: else
      fi
    };
    if
    :: BETWEEN(seenHead, tail) < COMMANDS -> publish()
    :: else
    fi
  :: skip
  fi
}

inline staged_earlier(tick) {
  stagedBy = tick;
  if
  :: tick <= clock + LEAD -> turnDue = true
  :: tick > clock + LEAD && tick - LEAD < comesBy -> comesBy = tick - LEAD
  :: else
  fi
}

inline start(tick) {
  make_room();
  d_step {
    calling = false;
    assert(!isFull || born == staged || BETWEEN(seenHead, tail) == COMMANDS);
    isFull = false;
    due[born] = tick;
    place[born] = STAGED;
    born++;
    if
    :: tick < stagedBy -> staged_earlier(tick)
    :: else
    fi
  }
}

/* Its command needs no turn. One comes at some time, which releases what the timer has carried. */
inline cancel(i) {
  d_step { place[i] = CANCELLED; due[i] = 0; turnDue = true }
}

inline ask() {
  d_step { calling = true; stagedBy = NEVER };
  publish();
  d_step { turnDue = true; quiet = ASKING; isSent = false; askedAt = clock; request = !request };
  atomic { ring(); calling = false }
}

/* After a turn that has left nothing. */
inline check() {
  if
  :: answered != request
  :: answered == request ->
    if
    :: firedTail != head -> turnDue = true
    :: firedTail == head && (isSent || staged < born) -> ask()
    :: firedTail == head && !isSent && staged == born ->
      d_step {
        assert(CAUGHT_UP(0) && CAUGHT_UP(1));
        quiet = REACHED;
        isSent = false;
        askedAt = 0
      }
    fi
  fi
}

proctype Client() {
  byte tail, seenHead, head, record, count, earliest, askedAt;
  byte stagedBy = NEVER;
  bool isWanted, isSent, isFull;
  do
  :: born < TIMERS ->
    if
    :: start(1)
    :: start(LAST)
    fi
  :: place[1] == STAGED -> cancel(1)
  :: quiet == UNASKED && ((born == TIMERS && stagedBy == LAST) || ALL_OVER) -> ask()
  :: atomic { woken -> woken = false; turnDue = true } /* heard */
  :: turnDue || comesBy != NEVER ->
    begin();
    deliver();
    finish();
    if
    :: quiet == ASKING -> check()
    :: else
    fi
  :: ALL_OVER && !turnDue && !woken && quiet == REACHED -> break
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
    noted = request; /* before the clock is read */
    atomic {
      if
      :: clock < LAST -> clock++
      :: skip
      fi;
      roundTick = clock
    };
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
#define ANY_DUE_BY(tick) (DUE_BY(0, tick) || DUE_BY(1, tick))

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
  :: isDone && answered != noted -> answered = noted; news = true
  :: else
  fi;
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
    :: !isFull && (late || answered != noted) -> next = roundTick
    :: !isFull && !late && answered == noted && ANY_DUE_BY(1) -> next = 1
    :: !isFull && !late && answered == noted && !ANY_DUE_BY(1) && ANY_DUE_BY(LAST) -> next = LAST
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
  isAwake = (late == 0 && commandTail != taken);
  isAwake = isAwake || (late == 0 && request != noted)
}

inline time_until() {
  if
  :: next <= clock -> isAwake = true
  :: else
  fi
}

proctype Shard() {
  byte taken, expected, pushed, reached, filed, late, roundTick, roundLeft, record, next;
  bool noted, left, isDone, isFull, news, wasDown, isAwake;
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
    :: asleep && next != NEVER -> asleep = false; clock = (next > clock -> next : clock)
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

/* The client rests until rung, or until its native timer comes; the shard sleeps. */
#define CLIENT_RESTS (!turnDue && !calling && !woken && comesBy > clock)
#define REST (CLIENT_RESTS && asleep && !rung)
#define HELD(i) (place[i] == STAGED && due[i] < comesBy + LEAD)
#define HELD_TOO_LONG (!wantsRoom && (HELD(0) || HELD(1)))
#define OVERSLEPT(i) ((place[i] == SENT || place[i] == TAKEN) && (state == UNTIL_RUNG || due[i] < wakeTick))
#define WAITS (wantsRoom || request != answered || firedTail != firedHead || OVERSLEPT(0) || OVERSLEPT(1))

ltl no_wake_lost { [] !((CLIENT_RESTS && HELD_TOO_LONG) || (REST && WAITS)) }
ltl all_served { <> (ALL_OVER && quiet == REACHED) }
