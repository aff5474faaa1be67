import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { untilStreamable } from '../../api/index.ts';
import type { Choice } from '../../renditions/index.ts';
import { usePage } from '../context.ts';
import { Cover, Icon } from '../controls/index.ts';
import { toFailure } from '../session.ts';
import { type PlaybackProblem, PlayerMessage } from './player-message.tsx';
import { useMediaSession } from './use-media-session.ts';

export interface PlayerProps {
  readonly choice: Choice;
  readonly title: string;
  readonly author: string | null;
  readonly coverUrl: string | null;
  /** Receives the element that plays. */
  readonly media: RefObject<(HTMLVideoElement & HTMLAudioElement) | null>;
  readonly onClose: () => void;
}

/** Plays one choice with native controls, in place of the cover. */
export const Player = ({ choice, title, author, coverUrl, media, onClose }: PlayerProps) => {
  const { api, texts } = usePage();
  const { t } = texts;
  const url = api.streamUrl(choice.rendition);
  const [trouble, setTrouble] = useState<PlaybackProblem>();
  const asking = useRef<AbortController>(null);
  const hasAsked = useRef(false);

  useEffect(() => {
    media.current?.focus({ preventScroll: true });
    return () => asking.current?.abort();
  }, []);

  useMediaSession({ title, author, coverUrl });

  const again = () => {
    const player = media.current;
    if (!player) return;
    setTrouble(undefined);
    const place = player.currentTime;
    player.load();
    // Before data is loaded, currentTime sets the default playback start position (HTML standard).
    if (choice.canSeek !== false) player.currentTime = place;
    // Autoplay may be blocked; the controls remain.
    player.play().catch(() => undefined);
  };
  // A media element does not report the cause: a request to the stream does.
  const explain = async () => {
    if (hasAsked.current) {
      setTrouble({ kind: media.current?.currentTime ? 'interrupted' : 'unsupported' });
      return;
    }
    asking.current = new AbortController();
    const { signal } = asking.current;
    try {
      await untilStreamable(url, { signal, onWaiting: (waiting) => setTrouble({ kind: 'waiting', waiting }) });
      hasAsked.current = true;
      again();
    } catch (error) {
      if (!signal.aborted) setTrouble({ kind: 'failed', failure: toFailure(error) });
    }
  };
  const retry = () => {
    hasAsked.current = false;
    again();
  };

  const common = {
    ref: media,
    src: url,
    controls: true,
    autoplay: true,
    preload: 'metadata',
    'aria-label': t('player.label', { title }),
    onError: explain,
    onPlaying: () => {
      hasAsked.current = false;
    },
  } as const;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape is a shortcut; the button beside it does the same.
    <div class="player" onKeyDown={({ key }) => key === 'Escape' && !document.fullscreenElement && onClose()}>
      {choice.element === 'audio' ? (
        <>
          <Cover url={coverUrl} fallback="music" isWhole />
          <audio {...common} />
        </>
      ) : (
        <video {...common} playsInline poster={coverUrl ?? undefined} />
      )}
      {trouble && <PlayerMessage trouble={trouble} onRetry={retry} />}
      <button type="button" class="button square small player-close" aria-label={t('player.close')} onClick={onClose}>
        <Icon name="close" />
      </button>
    </div>
  );
};
