import { afterEach, beforeEach, describe } from 'vitest';
import { testClock } from './conformance/clock.ts';
import { testClosing } from './conformance/closing.ts';
import { testConditions } from './conformance/conditions.ts';
import { testDelivery } from './conformance/delivery.ts';
import { testHandlers } from './conformance/handlers.ts';
import { testOutcomes } from './conformance/outcomes.ts';
import { testPayloads } from './conformance/payloads.ts';
import { testRaces } from './conformance/races.ts';
import { testScheduling } from './conformance/scheduling.ts';
import { testSeveral } from './conformance/several.ts';
import { testStates } from './conformance/states.ts';
import { type StoreKind, Stores } from './conformance/stores.ts';
import { testWarnings } from './conformance/warnings.ts';
import { testYoung } from './conformance/young.ts';

/** What each kind of store has to do: `npm test` asks LMDB for the beginnings, the long run asks every kind for all. */
export function testStore(name: string, kind: StoreKind, depth: 'beginnings' | 'all' = 'all'): void {
  describe(name, () => {
    const stores = new Stores(kind);
    beforeEach(() => kind.create());
    afterEach(() => stores.end());
    testScheduling(stores);
    testDelivery(stores);
    testYoung(stores);
    if (depth === 'beginnings') return;
    testConditions(stores);
    testStates(stores);
    testHandlers(stores);
    testOutcomes(stores);
    testPayloads(stores);
    testRaces(stores);
    testSeveral(stores);
    testClosing(stores);
    testWarnings(stores);
    testClock(stores);
  });
}
