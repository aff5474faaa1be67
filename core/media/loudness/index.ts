export { type Loudness, r128Gain, replayGain, SILENCE_LUFS, soundCheck } from './loudness.ts';
