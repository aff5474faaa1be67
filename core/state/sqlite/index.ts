export { FolderInUse, isDiskNearlyFull, openSqliteStorage, type SqliteStorage } from './sqlite-storage.ts';
