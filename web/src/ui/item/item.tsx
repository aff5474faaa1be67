import '../../styles/choices.css';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { MediaInformation } from '../../api/index.ts';
import { openWithoutPicker } from '../../download/index.ts';
import { type Choice, type ChoiceGroup, choicesOf, preferenceOf } from '../../renditions/index.ts';
import { useObservable, usePage } from '../context.ts';
import { Icon } from '../controls/index.ts';
import { Actions } from './actions.tsx';
import { ChoiceList } from './choice-list.tsx';
import { MediaStage } from './media-stage.tsx';
import { useRanges } from './use-ranges.ts';

export interface ItemProps {
  readonly item: MediaInformation;
  /** Within a playlist entry, which shows title and author. */
  readonly isNested?: boolean;
  /** Plays the selected rendition at once. */
  readonly startsPlaying?: boolean;
  /** One-based place in a playlist and its length. */
  readonly place?: { readonly number: number; readonly count: number };
}

/** One item: metadata, renditions and actions. */
export const Item = ({ item, isNested, startsPlaying, place }: ItemProps) => {
  const { texts, formats, fileNames, downloads, primaryAction, startsDownload } = usePage();
  const { t } = texts;
  const pattern = useObservable(fileNames.pattern);
  const choices = useMemo(() => choicesOf(item, { place, pattern, preference: formats.get() }), [item, pattern]);
  const [selectedId, setSelectedId] = useState<string>();
  const [playing, play] = useState(startsPlaying ? choices.preselected : undefined);
  const all = [...choices.video, ...choices.audio, ...choices.mp3];
  const chosen = all.find(({ id }) => id === selectedId) ?? choices.preselected;
  // Range support is requested after a choice, and where it is doubtful: of a pair, and without a size, which suggests a
  // generated stream.
  const isDoubtful = chosen?.isMuxed || chosen?.sizeBytes === undefined;
  const selected = useRanges(chosen, selectedId !== undefined || isDoubtful);
  const select = (choice: Choice) => {
    setSelectedId(choice.id);
    formats.set(preferenceOf(choice));
  };
  const selectGroup = (group: ChoiceGroup) => {
    const { preselected } = choicesOf(item, { place, preference: { group } });
    if (preselected) select(preselected);
  };
  useEffect(() => {
    if (isNested || !selected) return;
    primaryAction.current = () => {
      if (!downloads.find(selected, downloads.list.get())) downloads.start(selected);
    };
    return () => {
      primaryAction.current = undefined;
    };
  }, [selected, isNested]);
  useEffect(() => {
    if (isNested || !startsDownload.current) return;
    startsDownload.current = false;
    // Without a click the browser shows no file picker.
    if (choices.preselected) downloads.enqueue(choices.preselected, openWithoutPicker);
  }, []);
  const title = item.title ?? t('item.untitled');
  return (
    <article class={isNested ? 'item nested' : 'item'} aria-label={title}>
      <div>
        <MediaStage
          title={title}
          author={item.author}
          coverUrl={item.coverUrl}
          isAudio={choices.video.length === 0}
          playing={playing}
          onPlay={selected && (() => play(selected))}
          onClose={() => play(undefined)}
        />
        {!isNested && <ItemHead title={title} author={item.author} link={item.requestedUrl} />}
      </div>
      <div class="panel download-panel">
        {selected ? (
          <>
            <ChoiceList choices={choices} selected={selected} onSelect={select} onSelectGroup={selectGroup} />
            {selected.canSeek === false && (
              <p class="note">
                <Icon name="clock" />
                {t('choices.noSeek')}
              </p>
            )}
            <Actions choice={selected} item={item} onPlay={() => play(selected)} />
          </>
        ) : (
          <p>{t('item.nothing')}</p>
        )}
      </div>
    </article>
  );
};

interface ItemHeadProps {
  readonly title: string;
  readonly author: string | null;
  readonly link: string | null;
}

const ItemHead = ({ title, author, link }: ItemHeadProps) => {
  const host = hostOf(link);
  return (
    <div class="item-head">
      <h2 dir="auto">{title}</h2>
      <p class="byline">
        {author && <bdi>{author}</bdi>}
        {host && (
          <span>
            <a href={link ?? undefined} target="_blank" rel="noreferrer" dir="ltr">
              {host}
            </a>
          </span>
        )}
      </p>
    </div>
  );
};

/** Host of a web link; undefined for other schemes. */
const hostOf = (link: string | null): string | undefined => {
  const url = link ? URL.parse(link) : null;
  return url && /^https?:$/.test(url.protocol) ? url.host : undefined;
};
