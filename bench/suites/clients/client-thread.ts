// Entry of a thread that is one of the event loops of `clients`: started by the process that measures them.
import { serveCalls } from '../../replay/serve-calls.ts';
import { ClientLoad } from './client-load.ts';

serveCalls(new ClientLoad());
