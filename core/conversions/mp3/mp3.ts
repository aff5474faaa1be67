import { audioFamily } from '../../media/codecs/index.ts';
import type { Conversion } from '../conversion.ts';
import { MP3_BITRATE_KBPS, mp3SizeBytes } from './mp3-frames.ts';

/** MP3 of 192 kbit/s, for players that read nothing else. Not offered where the best audio is MP3 already. */
export const mp3: Conversion = {
  label: `${MP3_BITRATE_KBPS} kbps`,
  description: 'Converted to MP3',
  fileExtension: '.mp3',
  mimeType: 'audio/mpeg',
  bitrateKbps: MP3_BITRATE_KBPS,
  isOffered: ({ video, audio, container }) =>
    video !== null || !(container === 'mp3' || (audio?.codec && audioFamily(audio.codec) === 'mp3')),
  sizeBytes: mp3SizeBytes,
};
