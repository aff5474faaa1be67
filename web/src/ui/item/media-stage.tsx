import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { usePage } from '../context.ts';
import { Cover, Icon } from '../controls/index.ts';

export interface MediaStageProps {
  readonly title: string;
  readonly coverUrl: string | null;
  /** Absent while unknown. */
  readonly durationSeconds?: number | null;
  readonly isLive?: boolean;
  readonly isAudio: boolean;
  /** The page's player plays a choice of this item. */
  readonly isPlaying: boolean;
  /** Absent without renditions. */
  readonly onPlay: (() => void) | undefined;
}

/** The cover, or the place of the page's player. */
export const MediaStage = (props: MediaStageProps) => {
  const { title, coverUrl, durationSeconds, isLive, isAudio, isPlaying, onPlay } = props;
  const { texts, playback } = usePage();
  const play = useRef<HTMLButtonElement>(null);
  const slot = useRef<HTMLDivElement>(null);
  const hasPlayed = useRef(false);
  useEffect(() => {
    // Closing the player returns the focus to the button that opened it.
    if (!isPlaying && hasPlayed.current) play.current?.focus({ preventScroll: true });
    hasPlayed.current = isPlaying;
  }, [isPlaying]);
  // Layout effects are cleaned up before the slot is removed: the player moves on within the same task.
  useLayoutEffect(() => {
    const { current } = slot;
    if (!isPlaying || !current) return;
    playback.stage.set(current);
    return () => {
      if (playback.stage.get() === current) playback.stage.set(undefined);
    };
  }, [isPlaying]);

  if (isPlaying) return <div class={isAudio ? 'player-slot audio' : 'player-slot'} ref={slot} />;
  return (
    <div class={coverUrl ? 'media-stage' : 'media-stage bare'}>
      <Cover url={coverUrl} fallback={isAudio ? 'music' : 'cover'} />
      {onPlay && (
        <button
          ref={play}
          type="button"
          class="media-play"
          aria-label={texts.t('action.playNamed', { title })}
          onClick={onPlay}
        >
          <span>
            <Icon name="play" />
          </span>
        </button>
      )}
      <Length durationSeconds={durationSeconds} isLive={isLive} />
    </div>
  );
};

/** The length in the corner of the cover, once it is known. */
const Length = ({ durationSeconds, isLive }: Pick<MediaStageProps, 'durationSeconds' | 'isLive'>) => {
  const { texts, format } = usePage();
  const { t } = texts;
  if (isLive) return <p class="media-length live">{t('details.live')}</p>;
  if (!durationSeconds) return null;
  const duration = format.clock(durationSeconds);
  return (
    <p class="media-length figures">
      <span class="visually-hidden">{t('details.duration', { duration })}</span>
      <span aria-hidden="true">{duration}</span>
    </p>
  );
};
