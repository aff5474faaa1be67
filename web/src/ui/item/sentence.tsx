import type { ClipTimes, SubtitleInformation } from '../../api/index.ts';
import {
  type Choice,
  type ChoiceGroup,
  type Choices,
  clipName,
  type FormatPreference,
  menusOf,
  nameOf,
} from '../../renditions/index.ts';
import type { TextKey } from '../../texts.ts';
import { usePage } from '../context.ts';
import { Button, Icon } from '../controls.tsx';
import { subtitleName, versionName } from '../details.ts';

interface SentenceProps {
  readonly choices: Choices;
  readonly selected: Choice;
  readonly onSelect: (choice: Choice) => void;
  /** Selects the preferred choice of another group. */
  readonly onSelectGroup: (group: ChoiceGroup) => void;
}

const GROUPS = ['video', 'audio'] as const;

/** What is downloaded, as a sentence whose underlined parts are menus. */
export const Sentence = ({ choices, selected, onSelect, onSelectGroup }: SentenceProps) => {
  const { t, texts } = usePage();
  const isVideo = selected.group === 'video';
  const groups = GROUPS.filter((group) => choices[group].length > 0);
  const { formats, versions } = menusOf(choices, selected);
  const names = formats.map(nameOf);
  const menus: Readonly<Record<string, MenuProps>> = {
    kind: {
      label: 'menu.kind',
      options: groups.map((group) => t(`choices.${group}`)),
      selected: groups.indexOf(selected.group),
      onSelect: (index) => onSelectGroup(groups[index] ?? selected.group),
    },
    format: {
      label: isVideo ? 'menu.quality' : 'choices.legend',
      options: names,
      selected: names.indexOf(nameOf(selected)),
      onSelect: (index) => onSelect(formats[index] ?? selected),
    },
    version: {
      label: 'menu.version',
      options: versions.map(({ version }) => versionName(version, texts)),
      selected: versions.findIndex(({ id }) => id === selected.id),
      onSelect: (index) => onSelect(versions[index] ?? selected),
    },
  };
  const isVersionKnown = versions.length > 1 || Boolean(selected.version?.language);
  const template = t(isVideo ? 'sentence.video' : 'sentence.audio')
    // The part in brackets is about the audio version, and is omitted where that is unknown.
    .replace(/\[(.*)\]/, (_, part: string) => (isVersionKnown ? part : ''));
  // Alternately texts and names of menus.
  const pieces = template.split(/\{(\w+)\}/);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is no line of text.
    <div class="sentence" role="group" aria-label={t('choices.legend')}>
      {pieces.map((piece, index) => {
        const menu = index % 2 === 1 && menus[piece];
        if (!menu) return index === 0 ? piece : piece.replace(/^\S+/, '');
        return (
          <span key={piece} class="menu-part">
            {menu.options.length > 1 ? <Menu {...menu} /> : <bdi>{menu.options[0]}</bdi>}
            {/* A line must not begin with what follows a menu without a space. */}
            {/^\S*/.exec(pieces[index + 1] ?? '')?.[0]}
          </span>
        );
      })}
    </div>
  );
};

interface ExtrasProps {
  /** Subtitles that the selected choice can contain, one per language. */
  readonly subtitles: readonly SubtitleInformation[];
  /** Language of the subtitles that were selected. */
  readonly embedded: string | undefined;
  /** The part that is selected. */
  readonly clip: ClipTimes | undefined;
  /** Whether sponsors are skipped; undefined when there are none, or they cannot be skipped. */
  readonly isSkipping: boolean | undefined;
  readonly onWish: (wish: Pick<FormatPreference, 'subtitles' | 'skipsSponsors'>) => void;
  /** Begins or ends to select a part; absent: the item has no parts. */
  readonly onClip: (() => void) | undefined;
}

/** What changes the file besides its format. */
export const Extras = ({ subtitles, embedded, clip, isSkipping, onWish, onClip }: ExtrasProps) => {
  const { t, texts } = usePage();
  const nameOfSubtitle = (one: SubtitleInformation) =>
    t('subtitles.in', { language: subtitleName(one, subtitles, texts) });
  return (
    <div class="row extras">
      {onClip && (
        <Button icon="cut" aria-pressed={clip !== undefined} onClick={onClip}>
          {t('clip.open')}
          {/* Joined: it does not break. */}
          {clip && ` ${clipName(clip).replace('–', '\u2060–\u2060')}`}
        </Button>
      )}
      {subtitles.length > 0 && (
        <span class="button plain small">
          <Icon name="all" />
          <Menu
            label="details.subtitles"
            text={embedded === undefined ? t('details.subtitles') : undefined}
            options={[t('subtitles.none'), ...subtitles.map(nameOfSubtitle)]}
            selected={subtitles.findIndex(({ language }) => language === embedded) + 1}
            onSelect={(index) => onWish({ subtitles: subtitles[index - 1]?.language })}
          />
        </span>
      )}
      {isSkipping !== undefined && (
        <label class="button plain small">
          <input
            type="checkbox"
            class="checkbox"
            checked={isSkipping}
            onChange={({ currentTarget }) => onWish({ skipsSponsors: currentTarget.checked })}
          />
          {t('sponsors.without')}
        </label>
      )}
    </div>
  );
};

interface MenuProps {
  readonly label: TextKey;
  readonly options: readonly string[];
  readonly selected: number;
  readonly onSelect: (index: number) => void;
  /** @default the selected option */
  readonly text?: string | undefined;
}

/** A text with an invisible native select over it, so that the menu is as wide as its text and flows in the line. */
export const Menu = ({ label, options, selected, onSelect, text = options[selected] }: MenuProps) => (
  <span class="menu">
    <bdi aria-hidden="true">{text}</bdi>
    <select
      aria-label={usePage().t(label)}
      value={selected}
      onChange={({ currentTarget }) => onSelect(currentTarget.selectedIndex)}
    >
      {options.map((option, index) => (
        <option key={option} value={index}>
          {option}
        </option>
      ))}
    </select>
  </span>
);
