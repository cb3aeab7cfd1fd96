/*
 * The life of a timer: one slot of the table, its timers one after the other, and the index that a shard keeps over it.
 *
 *     Client                                                     Shard, which may die before each of its steps
 *     schedule: DUE, DEADLINE, TAG ─▶ stage ─▶ command ────────▶ filed under its tag, or late
 *     move: DEADLINE, DUE ─▶ stage if to earlier                  its tick has come: reads DUE, then TAG
 *     cancel: TAG, DUE                                              other tag: dropped │ due later: refiled │ else: fired
 *     record: TAG? DEADLINE come? ◀───────────────────────────── record
 *        ended, callback │ repeats: moved to its next call, staged, callback │ stale │ moved meanwhile: staged again
 *
 * Commands are staged until LEAD before the earliest of them is due, or until something else asks for them, at the end of a call or a
 * delivery. The shard asks before it sleeps whether its entry is still wanted (`next_wanted`).
 *
 * Each access to a shared word is a step. Ticks are small numbers, and LAST stands for all later ones. DEADLINE may tear.
 *
 * Must hold: a timer ends once, delivered or cancelled; none is delivered before its deadline, or in the tick in which it was
 * set to the present or the past; a call of a repeating one is made once; a due word on which a shard acts belongs to the timer of the tag (assertions). Between turns
 * each live timer is staged, and counts for the time by which the stage is published, or is commanded, filed in time, or fired (`known`). None is live for ever (`never_lost`), or when
 * nothing is left to do (no invalid end state). No fairness is needed.
 *
 * Left out: weak memory, so all steps of a process are seen in program order. DUE, TAG and DEADLINE are plain words in the code:
 * the rings' counters order them where a command or a record has crossed, and nothing does while a shard reads what is being
 * written. Also left out: rings and bells, which lane.pml shows, so here rings are channels, and a turn comes when it has
 * something to do; other slots, and so order and the free list; slack; far moves; used up slots; tags that come again;
 * inline lanes, lanes whose few entries are all in one list, and hand-over by entries; the stores of `restage`, which write the same words; budgets above 1.
 *
 *   schedule    src/client/client.ts: schedule               take        src/shard/ring-lane.ts: fileNext
 *   allocate    src/lane/timer-table.ts: allocate            file        src/shard/ring-lane.ts: file
 *   move        src/client/client-lane.ts: move              take_out    src/shard/served-lane.ts: handOverListed
 *   move_words  src/lane/timer-table.ts: move                late_next   src/shard/served-lane.ts: handOverListed
 *   cancel      src/client/client.ts: cancel                 due_now     src/shard/served-lane.ts: due
 *   free        src/lane/timer-table.ts: free                insert      src/shard/lane-entries.ts: insert
 *   publish     src/client/commands.ts: publish              turn        src/shard/served-lane.ts: turn
 *   take_due    src/client/delivery.ts: examineNext          publish_fired  src/shard/served-lane.ts: publish
 *   take_fired  src/client/delivery.ts: examineNext          begin_index src/shard/build-shard.ts: serveLane
 *   end         src/client/delivery.ts: end                  skip_commands  src/shard/ring-lane.ts: skipCommands
 *   restage     src/client/client-lane.ts: restage           rebuild     src/shard/served-lane.ts: rebuild
 *   call_again  src/client/repeating-calls.ts: begin         next_wanted  src/shard/ring-lane.ts: wantedAt
 *   staged_earlier  src/client/client-turns.ts: stagedEarlier  ask       src/client/client-turns.ts: publish
 */

#define LAST 2 /* the latest deadline; ticks run from 0 */
#define CALLS 3 /* of the program: schedule, move, cancel */
#define DEATHS 1 /* of the shard */
#define NONE 255
#define TORN 254 /* a deadline of which only one half is written */

byte clock;

/* The table's one slot. `owner`, for an assertion: the timer to which the due word belongs. */
byte due, tag, deadline;
byte owner = NONE;
bool over[CALLS + 1]; /* by generation: delivered or cancelled */

chan stage = [6] of { byte }; /* tag */
byte stagedBy = NONE; /* the earliest due tick among staged commands */
chan commands = [2] of { byte, byte }; /* tag, tick */
chan fired = [2] of { byte }; /* tag */

/* The shard's own. `reached`: the tick up to which the index has handed over. */
bool filed;
byte filedTag, filedTick, reached;
chan late = [2] of { byte, byte }; /* tick, tag; sorted */

/* Client and shard are within a call or a turn; the shard's thread has been ended. */
bool calling, turning, killed;

#define LIVE(word) (word & 1)
#define LEAD 1 /* ticks before a due tick by which its command is published */
#define IS_WANTED (stagedBy <= clock + LEAD || clock == LAST)
#define HAS_COME(tick) (tick <= clock || clock == LAST)

proctype Clock() {
  do
  :: clock < LAST -> clock++
  :: else -> break
  od
}

/* ---- Client ---- */

inline allocate() {
  atomic { due = dueTick; owner = tag / 2 };
  deadline = want;
  tag = tag | 1
}

/* A command waits until its due tick comes, or somebody asks. */
inline staged_earlier() {
  stagedBy = (dueTick < stagedBy -> dueTick : stagedBy)
}

inline schedule() {
  allocate();
  atomic {
    stage!tag;
    staged_earlier();
    if
    :: repeats = true
    :: repeats = false
    fi
  }
}

/* The clock is read: what was put off at an earlier tick is over. */
inline read_clock() {
  if
  :: tick != clock -> tick = clock; putOff = NONE; setAt = NONE
  :: else
  fi
}

inline move_words() {
  deadline = TORN; /* its first half */
  deadline = want;
  due = dueTick
}

inline move() {
  isCommanded = want < deadline;
  move_words();
  atomic {
    if
    :: isCommanded -> stage!tag; staged_earlier()
    :: !isCommanded
    fi;
    if
    :: want <= tick -> putOff = tick
    :: want > tick
    fi;
    isCommanded = false;
    called = NONE
  }
}

inline free() {
  tag = tag + 1;
  atomic { due = 0; owner = NONE; deadline = TORN } /* the code leaves DEADLINE as it is; here it may be anything */
}

/* Ends the timer whose callback the slot holds. */
inline end() {
  d_step {
    assert(LIVE(tag) && !over[tag / 2]);
    over[tag / 2] = true;
    repeats = false;
    called = NONE
  };
  free()
}

inline cancel() {
  end()
}

inline take_fired() {
  fired?record
}

inline restage(tick) {
  stage!tag;
  stagedBy = (tick < stagedBy -> tick : stagedBy)
}

/* The timer keeps its slot: its next call is a tick later. A program may move it back to a call that was made. */
inline call_again() {
  d_step {
    assert(called != deadline);
    called = deadline;
    want = deadline + 1;
    dueTick = (want > tick -> want : tick + 1)
  };
  move_words();
  d_step { restage(dueTick); want = 0; dueTick = 0 }
}

inline take_due() {
  atomic {
    take_fired();
    if
    :: record == tag && deadline > tick -> read_clock()
    :: else
    fi;
    if
    :: record != tag -> isStale = true
    :: record == tag && (deadline > tick || putOff == tick) -> isStale = true; restage(due)
    :: else -> assert(deadline <= clock && setAt != tick)
    fi;
    record = 0
  };
  if
  :: isStale -> isStale = false
  :: !isStale && repeats && deadline < LAST -> call_again()
  :: !isStale && !(repeats && deadline < LAST) -> end()
  fi
}

/* Once somebody needs a command, none is kept back: the rest waits for room only. */
inline publish() {
  atomic {
    stagedBy = 0;
    stage?record;
    if
    :: record == tag -> commands!record, due
    :: else
    fi;
    if
    :: empty(stage) -> stagedBy = NONE
    :: nempty(stage)
    fi;
    record = 0
  }
}

/* Something else needs what is staged: a request, a full stage, a turn in which it is near. */
inline ask() {
  if
  :: nempty(stage) -> stagedBy = 0
  :: skip
  fi
}

proctype Client() {
  byte tick, calls, want, dueTick, record, counted, putOff = NONE, setAt = NONE, called = NONE;
  bool isCommanded, isLive, isStale, repeats;
  do
  :: atomic {
      calls < CALLS && clock < LAST -> calls++; calling = true;
      if
      :: read_clock()
      :: tick != clock /* the last reading may be older */
      fi;
      if
      :: LIVE(tag) -> want = 0
      :: want = 1
      :: want = 2
      fi;
      dueTick = (want > tick -> want : tick + 1);
      if
      :: 0 < want && want <= tick -> setAt = tick
      :: else
      fi;
      isLive = LIVE(tag)
    };
    if
    :: want == 0 -> cancel()
    :: want > 0 && isLive -> move()
    :: want > 0 && !isLive -> schedule()
    fi;
    atomic { ask(); want = 0; dueTick = 0; isLive = false; calling = false }
  :: atomic { nempty(fired) -> calling = true };
    if
    :: counted == 0 ->
      counted = len(fired);
      d_step { read_clock() }
    :: counted > 0
    fi;
    take_due();
    atomic { ask(); counted--; calling = false }
  :: nempty(stage) && nfull(commands) && IS_WANTED -> publish()
  :: (calls == CALLS || clock == LAST) && !LIVE(tag) && empty(stage) && empty(fired) -> break
  od
}

/* ---- Shard ---- */

inline insert(tick) {
  filed = true;
  filedTick = (tick > reached -> tick : reached + 1)
}

inline file(word, tick) {
  d_step {
    if
    :: filed && filedTag == word && tick >= filedTick -> skip
    :: else ->
      filedTag = word;
      insert(tick)
    fi
  }
}

inline take_out(word) {
  filed = false;
  filedTag = word
}

/* `tick` has come for a slot that has been taken out of the index. */
inline due_now() {
  if
  :: atomic { tick > 0 -> dueWord = due; dueOwner = owner };
    atomic {
      word = tag;
      if
      :: word != filedTag
      :: word == filedTag ->
        assert(dueOwner == word / 2);
        if
        :: dueWord > tick -> isLater = true
        :: dueWord <= tick -> record = word
        fi
      fi;
      word = 0
    };
    if
    :: atomic { isLater ->
        if
        :: deadline > tick -> insert(dueWord) /* also if it is torn */
        :: deadline <= tick || deadline == TORN -> record = filedTag
        fi;
        isLater = false
      }
    :: !isLater
    fi;
    d_step {
      if
      :: !filed -> filedTag = 0; filedTick = 0
      :: else
      fi;
      dueWord = 0;
      dueOwner = 0;
      tick = 0
    }
  :: tick == 0
  fi
}

/* The shard may sleep until its entry is wanted: one that has ended is dropped, one that was moved to later is filed anew. */
inline next_wanted() {
  if
  :: atomic { filed -> dueWord = due; dueOwner = owner };
    atomic {
      word = tag;
      if
      :: word != filedTag -> filed = false; filedTag = 0; filedTick = 0
      :: word == filedTag ->
        assert(dueOwner == word / 2);
        isLater = (dueWord > filedTick)
      fi;
      word = 0
    };
    if
    :: atomic { isLater ->
        if
        :: deadline > filedTick -> insert(dueWord) /* also if it is torn */
        :: deadline <= filedTick || deadline == TORN
        fi;
        isLater = false
      }
    :: !isLater
    fi;
    d_step { dueWord = 0; dueOwner = 0 }
  :: !filed
  fi
}

inline take() {
  atomic {
    commands?word, tick;
    roundLeft--;
    if
    :: tick > reached -> file(word, tick)
    :: else -> late!!tick, word
    fi;
    word = 0;
    tick = 0
  }
}

#define FILED_BY(tick) (filed && (filedTick <= tick || tick == LAST))

/* The next that is due: a late one, whose tag is to be read, or the index's, which is taken out. */
inline advance() {
  if
  :: left && len(late) > 0 -> late?tick, word
  :: left && len(late) == 0 && FILED_BY(roundTick) ->
    tick = filedTick;
    filed = false;
    reached = (reached > tick -> reached : (tick < LAST -> tick : LAST));
    left = false
  :: left && len(late) == 0 && !FILED_BY(roundTick) ->
    reached = (reached > roundTick -> reached : roundTick);
    left = false
  :: !left
  fi
}

inline late_next() {
  if
  :: word != tag -> word = 0; tick = 0; advance()
  :: word == tag -> take_out(word); word = 0; left = false
  fi
}

inline publish_fired() {
  if
  :: record > 0 -> fired!record; record = 0
  :: record == 0
  fi
}

inline turn() {
  if
  :: isNew -> atomic { roundLeft = len(commands); isNew = false }
  :: !isNew
  fi;
  if
  :: roundLeft > 0 -> take()
  :: roundLeft == 0
  fi;
  if
  :: roundLeft == 0 ->
    atomic { left = nfull(fired); advance() };
    do
    :: atomic { word > 0 -> late_next() }
    :: word == 0 -> break
    od;
    due_now();
    if
    :: len(late) == 0 -> next_wanted()
    :: len(late) > 0
    fi
  :: roundLeft > 0
  fi;
  atomic {
    publish_fired();
    if
    :: roundLeft == 0 && len(late) == 0 -> roundTick = 0
    :: else
    fi;
    turning = false
  }
}

inline skip_commands() {
  atomic {
    do
    :: nempty(commands) -> commands?word, tick
    :: empty(commands) -> break
    od;
    word = 0;
    tick = 0
  }
}

/* The index starts before everything that is already due. */
inline begin_index() {
  reached = clock;
  word = tag;
  if
  :: atomic { LIVE(word) ->
      dueWord = due;
      reached = (dueWord > reached -> reached : (dueWord > 0 -> dueWord - 1 : 0));
      dueWord = 0;
      word = 0
    }
  :: atomic { !LIVE(word) -> word = 0 }
  fi
}

inline rebuild() {
  begin_index();
  skip_commands();
  word = tag;
  if
  :: atomic { LIVE(word) -> file(word, due) }
  :: !LIVE(word)
  fi;
  atomic { word = 0; turning = false }
}

/* Whether a turn has something to do. */
#define BUSY (roundLeft > 0 || (empty(late) && nempty(commands)) || (nfull(fired) && (nempty(late) || (filed && HAS_COME(filedTick)))))

proctype Shard() {
  byte word, tick, dueWord, dueOwner, record, roundTick, roundLeft;
  bool left, isLater, isNew, isSuccessor;
  do
  :: {
      if
      :: isSuccessor -> rebuild()
      :: !isSuccessor
      fi;
end_idle:
      do
      :: atomic { !turning && BUSY ->
          turning = true;
          if
          :: roundLeft == 0 && len(late) == 0 -> roundTick = clock; isNew = true
          :: else
          fi
        };
        turn()
      od
    } unless {
      atomic {
        killed ->
        killed = false;
        do
        :: nempty(late) -> late?word, tick
        :: empty(late) -> break
        od;
        filed = false;
        filedTag = 0;
        filedTick = 0;
        reached = 0;
        word = 0;
        tick = 0;
        dueWord = 0;
        dueOwner = 0;
        record = 0;
        roundTick = 0;
        roundLeft = 0;
        left = false;
        isLater = false;
        isNew = false;
        isSuccessor = true
      }
    }
  od
}

proctype Death() {
  byte deaths;
end_alive:
  do
  :: deaths < DEATHS -> deaths++; atomic { killed = true; turning = true }
  :: else -> break
  od
}

init {
  atomic { run Clock(); run Client(); run Shard(); run Death() }
}

#define BETWEEN_TURNS (!calling && !turning)
#define COMMANDED ((stage??[eval(tag)] && stagedBy <= due) || commands??[eval(tag), _] || late??[_, eval(tag)])
#define FILED (filed && filedTag == tag && (filedTick <= due || filedTick <= reached + 1))
#define KNOWN (COMMANDED || FILED || fired??[eval(tag)])

ltl known { [] ((BETWEEN_TURNS && LIVE(tag)) -> KNOWN) }
ltl never_lost { [] <> !LIVE(tag) }
