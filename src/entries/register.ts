import type { RegistrationState } from '../time/native-timers.ts';
import { register, registration, unregister } from '../timers/registration.ts';

register();

export type { RegistrationState };
export { register, registration, unregister };
