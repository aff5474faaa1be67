import type { RefObject } from 'preact';
import { usePage } from '../context.ts';
import { Select } from '../controls/index.ts';
import type { Chapter } from '../details/index.ts';

export interface ChapterMenuProps {
  readonly media: RefObject<HTMLMediaElement | null>;
  /** The position that is played. */
  readonly seconds: number;
  /** In the order of their starts. */
  readonly chapters: readonly Chapter[];
}

/** The chapters as a menu, which names the one that is playing. */
export const ChapterMenu = ({ media, seconds, chapters }: ChapterMenuProps) => {
  const { texts, format } = usePage();
  const current = chapters.findLastIndex(({ startSeconds }) => Math.floor(startSeconds) <= seconds);
  return (
    <Select
      label={texts.t('player.chapter')}
      value={String(Math.max(current, 0))}
      options={chapters.map((_, index) => String(index))}
      nameOf={(index) => {
        const { title = null, startSeconds = 0 } = chapters[Number(index)] ?? {};
        return [format.clock(startSeconds), title].filter(Boolean).join(' ');
      }}
      onChange={(index) => {
        if (media.current) media.current.currentTime = chapters[Number(index)]?.startSeconds ?? 0;
      }}
    />
  );
};
