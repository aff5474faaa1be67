import { LONG_SECONDS, type MediaName, SECONDS } from './media.ts';
import type { Video } from './videos.ts';

/** A player call, or the response that a watch page contains. */
interface PlayerCall {
  readonly id: string;
  readonly video: Video;
  /** Name of the Innertube client. */
  readonly clientName: string;
  /** The address that asks. */
  readonly address: string;
  /** The number of the call. */
  readonly call: number;
  readonly sizes: Readonly<Record<MediaName, number>>;
}

const CHANNEL = 'UCexampleexampleexample0';
const MP4A = 'audio/mp4; codecs="mp4a.40.2"';
const OPUS = 'audio/webm; codecs="opus"';
const LIFETIME_SECONDS = 21_540;

/** The JSON of a player response: the fields that yt-dlp reads. */
export function playerResponse(call: PlayerCall): object {
  const { id, video } = call;
  return {
    responseContext: { visitorData: 'Vmlz' },
    playabilityStatus: playabilityOf(video),
    videoDetails: {
      videoId: id,
      title: `Video ${id}`,
      lengthSeconds: String(secondsOf(video)),
      channelId: CHANNEL,
      author: 'A channel',
      shortDescription: '0:00 Start\n0:02 Middle\n0:04 End',
      viewCount: '7',
      isLiveContent: video.isLive === true,
      thumbnail: { thumbnails: [{ url: `https://i.ytimg.com/vi/${id}/hqdefault.jpg`, width: 480, height: 360 }] },
      ...(video.isUpcoming && { isUpcoming: true }),
      ...(video.isLive && { isLive: true }),
    },
    microformat: {
      playerMicroformatRenderer: {
        ownerChannelName: 'A channel',
        externalChannelId: CHANNEL,
        title: { simpleText: `Video ${id}` },
        availableCountries: ['DE', 'US'],
        publishDate: '2026-01-02',
        category: 'Music',
      },
    },
    ...(!video.playability && { streamingData: streamingData(call) }),
    ...(video.hasCaptions && { captions: captionsOf(id) }),
    ...(video.preRollMs !== undefined && { adPlacements: [preRoll(video.preRollMs)] }),
  };
}

const secondsOf = (video: Video): number => (video.isGated ? LONG_SECONDS : SECONDS);

function playabilityOf({ playability }: Video): object {
  if (!playability) return { status: 'OK', playableInEmbed: true };
  const { status, reason, subreason } = playability;
  const texts = { reason: { simpleText: reason }, ...(subreason && { subreason: { simpleText: subreason } }) };
  return { status, reason, errorScreen: { playerErrorMessageRenderer: texts } };
}

/** The page's own client gets no URLs: it streams by SABR, a protocol of its own. */
function streamingData(call: PlayerCall): object {
  if (call.video.isLive)
    return call.clientName === 'WEB' ? {} : { hlsManifestUrl: `${LIVE_URL}/hls_variant/id/${call.id}` };
  const { video, clientName } = call;
  const formats = video.isGated ? longFormats(call) : shortFormats(call);
  if (!video.isSabrOnly && clientName !== 'WEB') return { expiresInSeconds: String(LIFETIME_SECONDS), ...formats };
  const adaptiveFormats = [...formats.formats, ...formats.adaptiveFormats].map(
    ({ url: _, signatureCipher: __, ...format }) => format,
  );
  return { expiresInSeconds: String(LIFETIME_SECONDS), adaptiveFormats, serverAbrStreamingUrl: SABR_URL };
}

const SIGNATURE = 'a-signature-of-28-characters';
const reverse = (text: string): string => [...text].reverse().join('');

/** Whether the query of a URL has what the player makes of its challenge and signature. */
export const isSolved = ({ id, n, sig }: Readonly<Record<string, string>>): boolean =>
  n === reverse(`${id}-n`) && sig === SIGNATURE;

const MEDIA_HOST = 'https://rr1---sn-example.googlevideo.com';
const SABR_URL = `${MEDIA_HOST}/videoplayback?sabr=1`;

/** Of the playlists of live streams. */
export const LIVE_URL = 'https://manifest.googlevideo.com/api/manifest';

const shortFormats = (call: PlayerCall) => ({
  formats: [combined(call, '18.mp4')],
  adaptiveFormats: [
    picture(call, 136, '136.mp4', 720),
    picture(call, 134, '134.mp4', 360),
    ...(call.video.hasDubs
      ? [
          sound(call, 140, '140-es.m4a', { audioTrack: track('Spanish', 'es.3', true) }),
          sound(call, 140, '140.m4a', { audioTrack: track('English original', 'en.4') }),
          sound(call, 140, '140-de.m4a', { audioTrack: track('German', 'de.3') }),
          sound(call, 140, '140-drc.m4a', { audioTrack: track('English original', 'en.4'), isDrc: true }),
        ]
      : [
          sound(call, 140, '140.m4a'),
          sound(call, 140, '140-drc.m4a', { isDrc: true }),
          sound(call, 251, '251.webm', { mimeType: OPUS, audioSampleRate: '48000' }),
        ]),
  ],
});

const longFormats = (call: PlayerCall) => ({
  formats: [combined(call, 'long-18.mp4')],
  adaptiveFormats: [picture(call, 134, 'long-134.mp4', 360), sound(call, 140, 'long-140.m4a')],
});

const track = (displayName: string, id: string, audioIsDefault = false) => ({ displayName, id, audioIsDefault });

interface Format {
  readonly url?: string;
  readonly signatureCipher?: string;
  readonly [field: string]: unknown;
}

function format(call: PlayerCall, itag: number, file: MediaName): Format {
  const { id, video, clientName, address, sizes } = call;
  const query = new URLSearchParams({
    expire: String(Math.floor(Date.now() / 1000) + LIFETIME_SECONDS),
    ip: address,
    id,
    itag: String(itag),
    source: 'youtube',
    clen: String(sizes[file]),
    dur: `${secondsOf(video)}.000`,
    lmt: '1700000000000000',
    c: clientName,
    file,
    call: String(call.call),
    ...(video.hasChallenges && { n: `${id}-n` }),
  });
  const url = `${MEDIA_HOST}/videoplayback?${query}`;
  const place = video.hasChallenges
    ? { signatureCipher: String(new URLSearchParams({ s: reverse(SIGNATURE), sp: 'sig', url })) }
    : { url };
  const bitrate = Math.round((sizes[file] * 8) / secondsOf(video));
  return {
    itag,
    bitrate,
    averageBitrate: bitrate,
    contentLength: String(sizes[file]),
    approxDurationMs: String(secondsOf(video) * 1000),
    ...place,
  };
}

const picture = (call: PlayerCall, itag: number, file: MediaName, height: number): Format => ({
  ...format(call, itag, file),
  mimeType: 'video/mp4; codecs="avc1.64001f"',
  width: (height * 16) / 9,
  height,
  fps: 25,
  quality: height === 720 ? 'hd720' : 'medium',
  qualityLabel: `${height}p`,
  projectionType: 'RECTANGULAR',
});

const sound = (call: PlayerCall, itag: number, file: MediaName, more: object = {}): Format => ({
  ...format(call, itag, file),
  mimeType: MP4A,
  quality: 'tiny',
  audioQuality: 'AUDIO_QUALITY_MEDIUM',
  audioSampleRate: '44100',
  audioChannels: 2,
  loudnessDb: -3.2,
  ...more,
});

const combined = (call: PlayerCall, file: MediaName): Format => ({
  ...picture(call, 18, file, 360),
  mimeType: 'video/mp4; codecs="avc1.42001E, mp4a.40.2"',
  audioChannels: 2,
  audioSampleRate: '44100',
  audioQuality: 'AUDIO_QUALITY_LOW',
});

const captionsOf = (id: string) => ({
  playerCaptionsTracklistRenderer: {
    captionTracks: [
      {
        baseUrl: `https://www.youtube.com/api/timedtext?v=${id}&lang=en`,
        languageCode: 'en',
        name: { simpleText: 'English' },
        isTranslatable: true,
      },
    ],
    translationLanguages: [{ languageCode: 'fr', languageName: { simpleText: 'French' } }],
  },
});

const preRoll = (waitMs: number) => ({
  adPlacementRenderer: {
    config: { adPlacementConfig: { kind: 'AD_PLACEMENT_KIND_START' } },
    renderer: { instreamVideoAdRenderer: { playerVars: 'length_seconds=15', skipOffsetMilliseconds: waitMs } },
  },
});
