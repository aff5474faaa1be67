import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { closeAfterwards } from '../../support/close-afterwards.ts';
import { startNginx } from '../../support/nginx.ts';

/** nginx with its WebDAV module. */
export interface WebDav {
  readonly url: string;
  readonly host: string;
  readonly username: string;
  readonly password: string;
  /** Paths of all files. */
  files(): Promise<string[]>;
  read(path: string): Promise<Buffer>;
}

export async function startWebDav(): Promise<WebDav> {
  let files = '';
  const nginx = await startNginx(async (folder) => {
    files = join(folder, 'root/files');
    await mkdir(files, { recursive: true });
    await writeFile(join(folder, 'users'), 'user:{PLAIN}a password\n');
    return {
      server: `
        client_max_body_size 0;
        auth_basic files; auth_basic_user_file ${folder}/users;
        root ${folder}/root;
        dav_methods PUT DELETE MKCOL MOVE;`,
    };
  });
  const { host } = closeAfterwards(nginx);
  return {
    url: `http://${host}/files/`,
    host,
    username: 'user',
    password: 'a password',
    async files() {
      const found = await readdir(files, { recursive: true, withFileTypes: true });
      return found
        .filter((each) => each.isFile())
        .map((each) => relative(files, join(each.parentPath, each.name)))
        .sort();
    },
    read: (path) => readFile(join(files, path)),
  };
}
