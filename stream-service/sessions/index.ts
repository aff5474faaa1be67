export { type Admission, type AdmissionLimits, createAdmission, type Release } from './admission.ts';
export {
  createStreamSessions,
  noopObserver,
  type StreamObserver,
  type StreamSession,
  type StreamSessions,
} from './stream-sessions.ts';
