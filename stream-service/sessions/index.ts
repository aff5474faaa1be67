export { type Admission, type AdmissionLimits, createAdmission, type Release } from './admission.ts';
export {
  createStreamSessions,
  noopObserver,
  openChildSession,
  type StreamObserver,
  type StreamSession,
  type StreamSessions,
} from './stream-sessions.ts';
