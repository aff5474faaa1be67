import type { ClipTimes } from '../../api/index.ts';
import type { TextKey } from '../../lib/index.ts';
import {
  type Choice,
  type ChoiceGroup,
  type Choices,
  clipName,
  type FormatPreference,
  menusOf,
  nameOf,
  type SegmentCategory,
} from '../../renditions/index.ts';
import { usePage } from '../context.ts';
import { type SubtitleInformation, subtitleName, versionName } from '../details/index.ts';

export interface SentenceProps {
  readonly choices: Choices;
  readonly selected: Choice;
  /** What the visitor selected last: a menu for it is there even where the item has nothing to select from. */
  readonly wish: FormatPreference | undefined;
  /** That the selected choice can hold, one per language. */
  readonly subtitles: readonly SubtitleInformation[];
  /** The language of those in the file. */
  readonly embedded: string | undefined;
  readonly clip: ClipTimes | undefined;
  /** Categories of segments that the item has and that can be left out, in the order of the menu. */
  readonly segments: readonly SegmentCategory[];
  /** Those that are. */
  readonly skipped: readonly SegmentCategory[];
  /** Whether they become chapters. */
  readonly isMarked: boolean;
  readonly onSelect: (choice: Choice) => void;
  /** Selects the preferred choice of another group. */
  readonly onSelectGroup: (group: ChoiceGroup) => void;
  readonly onWish: (wish: Pick<FormatPreference, 'subtitles' | 'hasTags' | 'skip' | 'isMarked'>) => void;
  /** Begins to select a part, or returns to the whole; absent: the item has no parts. */
  readonly onClip: ((isClip: boolean) => void) | undefined;
}

interface MenuProps {
  readonly label: TextKey;
  readonly options: readonly { readonly text: string; readonly isSelected: boolean; readonly select: () => void }[];
}

/** What is downloaded, as a sentence whose underlined parts are menus. */
export const Sentence = (props: SentenceProps) => {
  const { t } = usePage().texts;
  const menus = useMenus(props);
  const template = t(props.selected.group === 'video' ? 'sentence.video' : 'sentence.audio')
    // A part in brackets is left out where there is nothing to select.
    .replace(/\[([^\]]*\{(\w+)\}[^\]]*)\]/g, (_, part: string, name: string) => (menus[name] ? part : ''));
  // Texts and names of menus in turn.
  const pieces = template.split(/\{(\w+)\}/);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is no line of text.
    <div class="sentence" role="group" aria-label={t('choices.legend')}>
      {pieces.map((piece, index) => {
        const menu = index % 2 === 1 && menus[piece];
        if (!menu) return index === 0 ? piece : piece.replace(/^\S+/, '');
        return (
          <span key={piece} class="menu-part">
            <Menu {...menu} />
            {/* A line must not begin with what follows a menu without a space. */}
            {/^\S*/.exec(pieces[index + 1] ?? '')?.[0]}
          </span>
        );
      })}
    </div>
  );
};

/** A native select below its text: as wide as what is selected, in a line with the rest. */
const Menu = ({ label, options }: MenuProps) => {
  const { t } = usePage().texts;
  const selected = options.findIndex(({ isSelected }) => isSelected);
  return (
    <span class="menu">
      <bdi aria-hidden="true">{options[selected]?.text}</bdi>
      <select
        aria-label={t(label)}
        value={selected}
        onChange={({ currentTarget }) => options[currentTarget.selectedIndex]?.select()}
      >
        {options.map(({ text }, index) => (
          <option key={text} value={index}>
            {text}
          </option>
        ))}
      </select>
    </span>
  );
};

const withoutRepeats = (sets: readonly (readonly SegmentCategory[])[]) =>
  [...new Map(sets.map((set) => [set.join(), set])).values()].filter(({ length }) => length > 0);

/** The menus by the placeholders of the sentence; without those that have nothing to select. */
function useMenus(props: SentenceProps): Readonly<Record<string, MenuProps | undefined>> {
  const { choices, selected, wish, subtitles, embedded, clip, segments, skipped, isMarked } = props;
  const { onSelect, onSelectGroup, onWish, onClip } = props;
  const { texts } = usePage();
  const { t } = texts;
  const isVideo = selected.group === 'video';
  const { formats, versions } = menusOf(choices, selected);
  const option = (text: string, isSelected: boolean, select: () => void) => ({ text, isSelected, select });
  const audioGroup = wish?.audioGroup ?? 'audio';
  const kinds = [
    ...(choices.video.length > 0 ? [option(t('choices.video'), isVideo, () => onSelectGroup('video'))] : []),
    ...(choices.audio.length + choices.mp3.length > 0
      ? [option(t('choices.audio'), !isVideo, () => onSelectGroup(audioGroup))]
      : []),
  ];
  const menus: Record<string, MenuProps> = {
    kind: { label: 'menu.kind', options: kinds },
    format: {
      label: isVideo ? 'menu.quality' : 'choices.legend',
      options: formats.map((one) => option(nameOf(one), nameOf(one) === nameOf(selected), () => onSelect(one))),
    },
  };
  const hasDubs = versions.some(({ version }) => version?.isDubbed);
  if (versions.length > 1 || wish?.language)
    menus.version = {
      label: 'menu.version',
      options: versions.map((one) =>
        option(versionName(one.version, hasDubs, texts), one.id === selected.id, () => onSelect(one)),
      ),
    };
  if (isVideo && (subtitles.length > 0 || wish?.subtitles))
    menus.subtitles = {
      label: 'details.subtitles',
      options: [
        option(t('subtitles.none'), embedded === undefined, () => onWish({ subtitles: undefined })),
        ...subtitles.map((one) =>
          option(t('subtitles.in', { language: subtitleName(one, subtitles, texts) }), one.language === embedded, () =>
            onWish({ subtitles: one.language }),
          ),
        ),
      ],
    };
  if (!isVideo && selected.hasTags) {
    const hasTags = wish?.hasTags !== false;
    menus.tags = {
      label: 'menu.tags',
      options: [
        option(t('tags.with'), hasTags, () => onWish({ hasTags: true })),
        option(t('tags.without'), !hasTags, () => onWish({ hasTags: false })),
      ],
    };
  }
  if (onClip) {
    const list = new Intl.ListFormat(texts.locale);
    const listOf = (categories: readonly SegmentCategory[]) =>
      list.format(categories.map((one) => t(`segment.${one}`)));
    const partOf = (text: string, skip: readonly SegmentCategory[], marks = false) => {
      const isWished = skip.join() === skipped.join() && marks === isMarked;
      return option(text, !clip && isWished, () => {
        onClip(false);
        if (!isWished) onWish({ skip, isMarked: marks });
      });
    };
    menus.part = {
      label: 'menu.part',
      options: [
        partOf(t('part.whole'), []),
        ...withoutRepeats([...segments.map((one) => [one]), segments, skipped]).map((skip) =>
          partOf(t('part.without', { what: listOf(skip) }), skip),
        ),
        ...(segments.length > 0 ? [partOf(t('part.marked', { what: listOf(segments) }), [], true)] : []),
        option(clip ? clipName(clip) : t('part.clip'), Boolean(clip), () => onClip(true)),
      ],
    };
  }
  return menus;
}
