export {
  type Admission,
  type AdmissionLimits,
  createAdmission,
  createStreamCounter,
  createStreamSessions,
  noopObserver,
  openChildSession,
  type Release,
  type StreamObserver,
  type StreamSession,
  type StreamSessions,
} from './stream-sessions.ts';
