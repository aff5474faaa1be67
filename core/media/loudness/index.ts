export { type Loudness, r128Gain, replayGain, scaleLoudness, soundCheck } from './loudness.ts';
