import type { MediaInformation, MediaRendition } from './contract.ts';

export type ChoiceGroup = 'video' | 'audio' | 'mp3';

/** One thing that can be taken. */
export interface Choice {
  /** Stable for the same rendition; unique within an item. */
  readonly id: string;
  readonly group: ChoiceGroup;
  /** `1080p`, `129 kbps`. */
  readonly label: string;
  readonly description: string | null;
  /** In capitals: `MP4`. */
  readonly container: string;
  readonly sizeBytes?: number;
  /** The size is a sum or what the source estimates. */
  readonly isSizeEstimate: boolean;
  /** Pixels. */
  readonly height?: number;
  /** kbit/s. */
  readonly bitrate?: number;
  /** As far as its description tells, any device of the last ten years plays it. */
  readonly playsEverywhere: boolean;
  /** The best of its group. */
  readonly isBest: boolean;
  /** A player can seek and a download can be resumed. Muxed streams cannot; others usually can. */
  readonly canSeek: boolean;
  readonly isMuxed: boolean;
  /** `video` or `audio`: the element that plays it. */
  readonly element: 'video' | 'audio';
  readonly mimeType: string;
  /** `Artist - Title.mp4`, as a file system takes it. */
  readonly fileName: string;
  /** For `api.streamUrl`. */
  readonly rendition: MediaRendition;
}

export interface Choices {
  /** Best first; empty when there are none. */
  readonly video: readonly Choice[];
  readonly audio: readonly Choice[];
  readonly mp3: readonly Choice[];
  /** What is chosen until the user chooses: the best video, else the best audio, else the conversion. */
  readonly preselected?: Choice;
}

/** What is offered of an item. Renditions without a key or of no use are left out. */
export function choicesOf(_item: MediaInformation): Choices {
  throw new Error('choices');
}
