import type { RefObject } from 'preact';
import { useId } from 'preact/hooks';
import { usePage } from '../context.ts';
import { Select } from '../controls/index.ts';
import type { Chapter } from '../details/index.ts';
import type { MediaState } from './use-media-state.ts';

export interface SeekBarProps {
  readonly media: RefObject<HTMLMediaElement | null>;
  readonly state: MediaState;
  /** In the order of their starts. */
  readonly chapters: readonly Chapter[];
}

const seekTo = (media: HTMLMediaElement | null, seconds: number): void => {
  if (media) media.currentTime = seconds;
};

/** Index of the last chapter that has begun; -1 before the first one. */
const indexAt = (chapters: readonly Chapter[], seconds: number): number =>
  chapters.findLastIndex(({ startSeconds }) => Math.floor(startSeconds) <= seconds);

/** A scrubber with a mark where each chapter begins, which controls of browsers do not have. */
export const SeekBar = ({ media, state: { seconds, durationSeconds }, chapters }: SeekBarProps) => {
  const { texts, format } = usePage();
  const id = useId();
  if (!Number.isFinite(durationSeconds)) return null;
  const maxSeconds = Math.ceil(durationSeconds);
  const time = texts.t('player.position', { at: format.clock(seconds), length: format.clock(durationSeconds) });
  return (
    // As in the controls of browsers, time runs to the right in every language.
    <span class="seek" dir="ltr">
      <input
        type="range"
        class="seek-bar"
        max={maxSeconds}
        // Its state follows later: a key would begin from where it was before the last one.
        value={media.current?.currentTime ?? seconds}
        list={id}
        aria-label={texts.t('player.seek')}
        aria-valuetext={[time, chapters[indexAt(chapters, seconds)]?.title].filter(Boolean).join(', ')}
        onInput={({ currentTarget }) => seekTo(media.current, currentTarget.valueAsNumber)}
      />
      <datalist id={id}>
        {chapters.map(({ startSeconds }) => (
          <option key={startSeconds} value={Math.round(startSeconds)} />
        ))}
      </datalist>
    </span>
  );
};

/** The chapters as a menu, which names the one that is playing. */
export const ChapterMenu = ({ media, state: { seconds }, chapters }: SeekBarProps) => {
  const { texts, format } = usePage();
  return (
    <Select
      label={texts.t('player.chapter')}
      value={String(Math.max(indexAt(chapters, seconds), 0))}
      options={chapters.map((_, index) => String(index))}
      nameOf={(index) => {
        const { title = null, startSeconds = 0 } = chapters[Number(index)] ?? {};
        return [format.clock(startSeconds), title].filter(Boolean).join(' ');
      }}
      onChange={(index) => seekTo(media.current, chapters[Number(index)]?.startSeconds ?? 0)}
    />
  );
};
