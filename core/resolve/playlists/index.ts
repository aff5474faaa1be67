export { createPlaylists, type ListPlace } from './playlists.ts';
