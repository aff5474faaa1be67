/**
 * The worker: Python that yt-dlp loads as a plugin, in each process of its own and in the functions beside the layer with
 * yt-dlp. The bundler copies the folder beside each bundle that starts yt-dlp.
 */
import { fileURLToPath } from 'node:url';

/** Folder to give to yt-dlp as a folder of plugins. */
export const PLUGIN_DIR = fileURLToPath(new URL('plugins', import.meta.url));
