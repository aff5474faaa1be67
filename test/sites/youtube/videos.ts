/** What the site says instead of sending a video. */
interface Playability {
  readonly status: string;
  readonly reason: string;
  readonly subreason?: string;
}

/** What makes a video special. */
export interface Video {
  readonly playability?: Playability;
  /** Status of the player call. */
  readonly apiStatus?: number;
  /** Formats have no URLs. */
  readonly isSabrOnly?: boolean;
  readonly isUpcoming?: boolean;
  /** After each player call, media is 403 for so long. */
  readonly preRollMs?: number;
  /** HLS alone, of which each address sees the same few seconds. */
  readonly isLive?: boolean;
  readonly hasCaptions?: boolean;
  readonly hasDubs?: boolean;
  /** Ranges beyond the first minute are 403, except of format 18. */
  readonly isGated?: boolean;
  /** Media is 403 for other addresses than the one that asked for it. */
  readonly isBound?: boolean;
  /** URLs carry a challenge and a signature, which the player's script transforms. */
  readonly hasChallenges?: boolean;
  /** An address that gets the bot check. */
  readonly blocks?: string;
}

const refused = (status: string, reason: string, subreason?: string): Video => ({
  playability: { status, reason, ...(subreason !== undefined && { subreason }) },
});

export const BOT_CHECK = refused(
  'LOGIN_REQUIRED',
  'Sign in to confirm you’re not a bot',
  'This helps protect our community. Learn more',
);

/** By video id. */
export const VIDEOS = {
  plainplain1: {},
  captionscc1: { hasCaptions: true },
  dubsdubsdub: { hasDubs: true },
  botcheckbot: BOT_CHECK,
  agecheckage: refused(
    'LOGIN_REQUIRED',
    'Sign in to confirm your age',
    'This video may be inappropriate for some users.',
  ),
  privatepriv: refused('LOGIN_REQUIRED', 'Private video', "Sign in if you've been granted access to this video"),
  removedgone: refused('ERROR', 'Video unavailable', 'This video has been removed by the uploader'),
  membersonly: refused(
    'UNPLAYABLE',
    'Join this channel to get access to members-only content like this video, and other exclusive perks.',
  ),
  rentalrent1: refused('UNPLAYABLE', 'This video requires payment to watch'),
  regionblock: refused(
    'UNPLAYABLE',
    'Video unavailable',
    'The uploader has not made this video available in your country',
  ),
  ratelimited: refused('UNPLAYABLE', 'This content isn’t available, try again later.'),
  premierelat: { isUpcoming: true, ...refused('LIVE_STREAM_OFFLINE', 'Premieres in 3 hours') },
  api429api42: { apiStatus: 429 },
  api403api40: { apiStatus: 403 },
  sabronlysab: { isSabrOnly: true },
  gatedgated1: { isGated: true },
  livelivelil: { isLive: true },
  expiresoon1: {},
  boundbound1: { isBound: true },
  challenged1: { hasChallenges: true },
  challenged2: { hasChallenges: true },
  blockedaddr: { isBound: true, blocks: '127.0.0.1' },
  prerollwait: { preRollMs: 3000 },
} as const satisfies Record<string, Video>;

export type VideoId = keyof typeof VIDEOS;

export const videoOf = (id: string): Video | undefined => (id in VIDEOS ? VIDEOS[id as VideoId] : undefined);

export const watchUrl = (id: VideoId): string => `https://www.youtube.com/watch?v=${id}`;

/** The formats of most videos, and what the service streams of them. */
export const ALL = {
  ytDlp: ['18', '134', '136', '140', '140-drc', '251'],
  video: ['136+140', '18', '134+140'],
  audio: ['251', '140'],
};
