export { type Admission, type AdmissionLimits, createAdmission, type Release } from './admission.ts';
export { noopObserver, type StreamObserver } from './stream-observer.ts';
export { createStreamSessions, type StreamSession, type StreamSessions } from './stream-sessions.ts';
