export { type Admission, type AdmissionLimits, createAdmission, type Release } from './admission.ts';
export { type Meter, noMeter } from './stream-observer.ts';
export { createVisits, type Visit, type Visits } from './stream-sessions.ts';
