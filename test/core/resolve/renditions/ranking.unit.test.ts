import { expect, it } from 'vitest';
import { selectRenditions } from '../../../../core/resolve/renditions/select-renditions.ts';
import { candidatesOf, formatLists } from './format-lists.ts';

/** The best rendition where it is not what yt-dlp picks, and why. */
const DIFFERENT: Readonly<Record<string, readonly [best: string, reason: string]>> = {
  'bilibili-4k-hdr-dolby-flac': [
    '100140-0+30280',
    'SDR and H.264 before Dolby Vision, and AAC before FLAC: more players support them',
  ],
  twitter: ['http-10368', 'a file can be resumed and sought; yt-dlp prefers the known codecs of HLS'],
  'youtube-2023-hls-and-https': ['137+140', 'H.264 before VP9, and AAC as the sound of an MP4'],
  'youtube-2024-a': ['313+140', 'AAC as the sound of an MP4'],
  'youtube-drc-and-damaged': ['248+140', 'AAC as the sound of an MP4'],
  'youtube-hdr-60fps': [
    '272+140',
    'the list is of an old release, whose sorting put HDR and bitrate before resolution',
  ],
  Reddit: ['dash-video-0+dash-audio-1', 'files of one MP4 pair before HLS'],
  NineGag: ['460sv', 'H.264, although unnamed, before AV1'],
  Odnoklassniki: [
    'hls-4000',
    'a known resolution before an unknown one; resolving probes the files and then knows theirs',
  ],
  VK: ['url720', 'a file before HLS, higher source_preference'],
  LinkedInLearning: ['progressive-720p', 'a file before HLS, higher source_preference'],
  PeerTube: ['1080p', 'a file before HLS'],
  'Youtube dubbed': ['137+140-1', 'AAC as the sound of an MP4'],
  'Youtube premium and possibly protected': [
    '616+a-Default',
    'audio of the same manifest, which has the timeline of the video',
  ],
  Coub: ['html5-video-high+mobile-audio-0', 'AAC as the sound of an MP4'],
  'HLS without CODECS with an audio group': [
    'hls-6800+hls-a-English',
    'the variants name an audio group: alone they may be silent',
  ],
  GoogleDrive: ['37', 'a known resolution before an unknown one; resolving probes the file and then knows its own'],
};

it.each(formatLists)('the best rendition of $name is the pick of yt-dlp, or another one for a reason', (list) => {
  const { renditions } = selectRenditions(candidatesOf(list));
  const best = renditions.find(({ side }) => side === 'video') ?? renditions[0];
  const [different] = DIFFERENT[list.name] ?? [];
  expect(best?.formatIds.join('+')).toBe(different ?? list.picked);
  expect(list.picked).not.toBe(different);
});
