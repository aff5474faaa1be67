import { type Choice, curlCommand, likelyShell, ytDlpCommand } from '../../renditions/index.ts';
import { usePage } from '../context.ts';
import { CopyButton } from '../controls/index.ts';
import { useRanges } from '../ranges/index.ts';

/** The download as commands for a terminal. */
export const CommandLines = ({ choice }: { readonly choice: Choice }) => {
  const { api, texts } = usePage();
  const { canSeek } = useRanges(choice, true);
  const options = {
    url: api.streamUrl(choice.rendition, choice),
    fileName: choice.fileName,
    // While unknown: a command without resuming works for every stream.
    canResume: canSeek ?? false,
    shell: likelyShell(navigator.userAgent),
  };
  const commands = [
    ['curl', curlCommand(options)],
    ['yt-dlp', ytDlpCommand(options)],
  ] as const;
  return commands.map(([tool, command]) => (
    <div key={tool}>
      <p class="command-name">{tool}</p>
      <div class="command">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard. */}
        <pre dir="ltr" tabIndex={0}>
          {command}
        </pre>
        <CopyButton text={command} name={texts.t('action.copyCommand', { tool })} />
      </div>
    </div>
  ));
};
