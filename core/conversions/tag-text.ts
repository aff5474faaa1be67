import type { TagText } from '../media/id3/index.ts';

/** What names a recording. */
export interface TaggedRecording {
  readonly title: string | null;
  readonly author: string | null;
  /** The text promised by an earlier resolve, before title or author changed. */
  readonly tag?: TagText;
}

/** The text that conversions of a recording are tagged with. */
export const tagText = ({ tag, title, author }: TaggedRecording): TagText => tag ?? { title, artist: author };
