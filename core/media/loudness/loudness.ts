/** What a measurement by EBU R 128 says of audio. */
export interface Loudness {
  /** Integrated loudness, LUFS (ITU-R BS.1770). At most `SILENCE_LUFS` where nothing is louder than the absolute gate. */
  readonly integratedLufs: number;
  /** The largest sample of the decoded audio; 1 is full scale. */
  readonly peak: number;
}

/** The absolute gate of BS.1770: quieter audio does not count. */
const SILENCE_LUFS = -70;
/** The loudness that a player is to reach, by ReplayGain 2.0 and by RFC 7845 §5.2.1. */
const REPLAY_GAIN_LUFS = -18;
const R128_LUFS = -23;
const MAX_SOUND_CHECK = 65_534;

/** dB. Silence stays as it is: there is nothing to amplify. */
const gainTo = (targetLufs: number, { integratedLufs }: Loudness): number =>
  integratedLufs > SILENCE_LUFS ? targetLufs - integratedLufs : 0;

/** That of the same audio with its samples multiplied by a factor. */
export const scaleLoudness = ({ integratedLufs, peak }: Loudness, factor: number): Loudness => ({
  integratedLufs: integratedLufs + 20 * Math.log10(factor),
  peak: peak * factor,
});

/** The values of `REPLAYGAIN_TRACK_GAIN` and `REPLAYGAIN_TRACK_PEAK`: `-7.03 dB`, `0.988000`. */
export const replayGain = (loudness: Loudness): { readonly gain: string; readonly peak: string } => ({
  gain: `${gainTo(REPLAY_GAIN_LUFS, loudness).toFixed(2)} dB`,
  peak: loudness.peak.toFixed(6),
});

/** The value of `R128_TRACK_GAIN`: dB in 256ths. */
export const r128Gain = (loudness: Loudness): string => String(Math.round(gainTo(R128_LUFS, loudness) * 256));

/**
 * The value of `iTunNORM`, by which iTunes and Music play at one loudness (Sound Check): ten numbers, of which the volume of
 * both channels in two units, and the largest sample of 16 bits are known. Players do not read the others.
 */
export function soundCheck(loudness: Loudness): string {
  const power = 10 ** (-gainTo(REPLAY_GAIN_LUFS, loudness) / 10);
  const [volume, other] = [1000, 2500].map((unit) => Math.min(Math.max(Math.round(power * unit), 1), MAX_SOUND_CHECK));
  const peak = Math.round(loudness.peak * 32_768);
  const words = [volume, volume, other, other, 0, 0, peak, peak, 0, 0];
  return words.map((word = 0) => ` ${word.toString(16).toUpperCase().padStart(8, '0')}`).join('');
}
