export { createWavConverter } from './wav-converter.ts';
