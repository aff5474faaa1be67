import { LISTED, UsageError } from './options.ts';

/** The command by the names that the packages give it. */
const COMMANDS = 'reelay reelay-client';

/** The script by which a shell completes the options and their values. @throws UsageError for another shell */
export function completionFor(shell: string): string {
  const write = Object.entries({ bash: forBash, zsh: forZsh, fish: forFish }).find(([name]) => name === shell)?.[1];
  if (!write) throw new UsageError(`--completion ${shell} is not bash, zsh or fish`);
  return write();
}

const namesOf = ([name, { short }]: (typeof LISTED)[number]): readonly string[] => [
  ...(short ? [`-${short}`] : []),
  `--${name}`,
];

function forBash(): string {
  const cases = LISTED.filter(([, { type }]) => type === 'string').map((listed) => {
    const [, { words = [], isPath }] = listed;
    const suggest = isPath ? 'compopt -o default' : words.length > 0 ? `suggest '${words.join(' ')}'` : ':';
    return `    ${namesOf(listed).join('|')}) ${suggest} ;;`;
  });
  return `_reelay() {
  local word=\${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  suggest() { COMPREPLY=($(compgen -W "$1" -- "$word")); }
  case \${COMP_WORDS[COMP_CWORD - 1]} in
${cases.join('\n')}
    *) suggest '${LISTED.flatMap(namesOf).join(' ')}' ;;
  esac
  unset -f suggest
}
complete -F _reelay ${COMMANDS}
`;
}

function forZsh(): string {
  const specs = LISTED.map((listed) => {
    const [, { value, words = [], isPath, text }] = listed;
    const names = namesOf(listed);
    // A value may follow in the same word: `-qmp3`, `--quality=mp3`.
    const taking = names.map((name) => name + (value === undefined ? '' : name.startsWith('--') ? '=' : '+'));
    const which = names.length > 1 ? `'(${names.join(' ')})'{${taking.join(',')}}` : taking.join('');
    const suggest = isPath ? '_files' : words.length > 0 ? `(${words.join(' ')})` : ' ';
    // Brackets and colons end a description.
    const described = `[${text.replaceAll(/[[\]:\\]/g, '\\$&')}]${value === undefined ? '' : `:${value}:${suggest}`}`;
    return `    ${which}'${described.replaceAll("'", "'\\''")}' \\`;
  });
  return `#compdef ${COMMANDS}
_reelay() {
  _arguments -s \\
${specs.join('\n')}
    '*:URL:_urls'
}
if [ "$funcstack[1]" = _reelay ]; then _reelay "$@"; else compdef _reelay ${COMMANDS}; fi
`;
}

function forFish(): string {
  const quote = (text: string) => `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
  const lines = LISTED.map(([name, { short, value, words = [], isPath, text }]) => {
    const takes = value === undefined ? '' : isPath ? ' -r -F' : ` -x -a ${quote(words.join(' '))}`;
    return `  complete -c $command${short ? ` -s ${short}` : ''} -l ${name}${takes} -d ${quote(text)}`;
  });
  return `for command in ${COMMANDS}
  complete -c $command -f
${lines.join('\n')}
end
`;
}
