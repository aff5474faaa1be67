export { WAV_FORMAT, wav, wavSamples } from './wav.ts';
