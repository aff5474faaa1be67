export { DEMO_SAMPLES, describeSample } from './demo-samples.ts';
