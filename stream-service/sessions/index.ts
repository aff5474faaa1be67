export {
  type Admission,
  type AdmissionLimits,
  createAdmission,
  createStreamSessions,
  noopObserver,
  openChildSession,
  type Release,
  type StreamObserver,
  type StreamSession,
  type StreamSessions,
} from './stream-sessions.ts';
