export type { AdmissionLimits } from './admission.ts';
export * from './create-stream-service.ts';
export type { OpenSource, Source } from './source/source.ts';
