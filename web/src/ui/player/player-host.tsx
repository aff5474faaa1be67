import '../../styles/player.css';
import { render } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { PageContext, useObservable, usePage } from '../context.ts';
import { Player } from './player.tsx';

/**
 * The player of the page, in the stage of the result or docked to the edge of the window. It is rendered into an element
 * of its own that moves between the two: a media element that is moved within one task keeps playing (HTML standard,
 * removing steps of media elements).
 */
export const PlayerHost = () => {
  const page = usePage();
  const { current, stage } = page.playback;
  const playback = useObservable(current);
  const isDocked = useObservable(stage) === undefined;
  const dock = useRef<HTMLElement>(null);
  const root = useRef<HTMLDivElement | null>(null);
  root.current ??= document.createElement('div');

  useLayoutEffect(() => {
    const place = () => {
      const target = stage.get() ?? dock.current;
      if (root.current && target && root.current.parentNode !== target) target.append(root.current);
    };
    place();
    return stage.subscribe(place);
  }, [stage]);
  useEffect(() => {
    if (!root.current) return;
    const { t } = page.texts;
    render(
      <PageContext.Provider value={page}>
        {playback && <Player key={playback.choice.id} playback={playback} isMini={isDocked} />}
      </PageContext.Provider>,
      root.current,
    );
    if (dock.current) dock.current.ariaLabel = t('player.label', { title: playback?.title ?? '' });
  });
  useEffect(
    () => () => {
      if (root.current) render(null, root.current);
    },
    [],
  );
  return <aside class="mini-player" ref={dock} hidden={!playback || !isDocked} />;
};
