export type { AdmissionLimits } from './admission.ts';
export * from './create-stream-service.ts';
export { type Meter, noMeter } from './meter.ts';
export { createOpenSource } from './source/open-source.ts';
export type { OpenSource, Source } from './source/source.ts';
export { answerUnreadable, MAX_HEADER_BYTES } from './unreadable.ts';
