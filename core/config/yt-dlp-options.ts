import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { listDir } from './list-dir.ts';
import { defineParser, SettingError } from './parsers.ts';

const PLUGINS = 'a folder of yt-dlp plugins: folders with yt_dlp_plugins, or archives (.zip, .whl)';

/** The folder of plugins, made absolute: yt-dlp runs in another working folder, and ignores a folder without plugins. */
export const ytDlpPlugins = defineParser(PLUGINS, (name, path): string => {
  const dir = resolve(path);
  const isPlugin = (entry: string) => /\.(zip|egg|whl)$/i.test(entry) || existsSync(join(dir, entry, 'yt_dlp_plugins'));
  if (!listDir(name, PLUGINS, dir).some(isPlugin))
    throw new SettingError(`${name} must be ${PLUGINS}: ${dir} has none`);
  return dir;
});

const EXTRACTOR_ARGS =
  'arguments such as youtube:player_client=web;skip=dash, those of several extractors separated by blanks';

/** As `--extractor-args` of yt-dlp. The error line names an entry by its number alone: it may contain a token. */
export const ytDlpExtractorArgs = defineParser(EXTRACTOR_ARGS, (name, text): string[] => {
  const items = text.split(/\s+/).filter((item) => item !== '');
  const index = items.findIndex((item) => !/^[\w.+-]+:[\w.-]+=./.test(item));
  if (index >= 0) throw new SettingError(`${name} must be ${EXTRACTOR_ARGS}; entry ${index + 1} is something else`);
  return items;
});
