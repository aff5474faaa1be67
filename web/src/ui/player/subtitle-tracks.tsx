import { usePage } from '../context.ts';
import { subtitleName, useDetails } from '../details/index.ts';

/** The subtitles of an item as tracks of its video, once they are known. Automatic ones come last. */
export const SubtitleTracks = ({ link }: { readonly link: string | null }) => {
  const { api, texts } = usePage();
  const { details } = useDetails(link, true);
  const subtitles = details?.subtitles ?? [];
  const sorted = [...subtitles].sort((a, b) => Number(a.isAutomatic) - Number(b.isAutomatic));
  return sorted.map((subtitle) => (
    <track
      key={subtitle.key}
      kind="subtitles"
      src={api.subtitleUrl(subtitle.key, 'vtt')}
      srcLang={subtitle.language}
      label={subtitleName(subtitle, texts)}
    />
  ));
};
