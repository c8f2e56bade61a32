//! Files of pattern tables. The files are kept between runs.
//!
//! A file has a header, which describes the content, and the tables. A writer takes a lock, writes the content to a
//! temporary file, and renames the temporary file. A killed process leaves at most a temporary file, which the next
//! write replaces.
//!
//! Tables depend only on their class and tier, so the program knows the SHA-256 of each valid file. The cache accepts
//! no other file, so searches need not check tables.

use std::fs::{self, File, TryLockError};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use taquin_solver::heuristic::{Geometry, GoalClass, HugeVec, Partition, PatternTable, Patterns, Tier};

/// A directory of table files. The name of a file has the class and the number of tiles in each pattern.
#[derive(Clone, Debug)]
pub(crate) struct DiskCache {
    directory: PathBuf,
}

/// The reason why a file was not read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    #[error("the file does not exist")]
    Missing,
    #[error("the file is incomplete: a process was interrupted while writing it, or is still writing it")]
    Unfinished,
    #[error("not a regular file")]
    NotAFile,
    #[error("the file is for different patterns or has a different format version")]
    Other,
    #[error("the file is damaged: {0}")]
    Damaged(&'static str),
    #[error("the file cannot be read: {0}")]
    Unreadable(io::Error),
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Missing,
            io::ErrorKind::UnexpectedEof => Self::Damaged("too short"),
            _ => Self::Unreadable(error),
        }
    }
}

/// Magic bytes of a file. The last byte is the version of the format.
const MAGIC: &[u8; 8] = b"taquin\0\x03";
/// Class, tier and SHA-256 of each valid file, one file per line. A test generates these lines.
const DIGESTS: &str = include_str!("digests.txt");
/// Number of 64-bit words that are converted at one time.
const CHUNK: usize = 8192;

/// Returns the SHA-256, in hexadecimal, of the valid file of a class and tier; `None` for tables that are never stored.
pub(crate) fn digest_of(class: GoalClass, tier: Tier) -> Option<&'static str> {
    let name = name_of(class, tier);
    DIGESTS.lines().find_map(|line| line.strip_prefix(&*name)?.strip_prefix(' '))
}

fn name_of(GoalClass { size, goal_blank }: GoalClass, tier: Tier) -> String {
    format!("{}x{} {goal_blank} {}", size.rows(), size.cols(), tier.name())
}

impl DiskCache {
    pub(crate) fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// Returns the header of a file. The header has all data that determine the meaning of the table bits: the class,
    /// and the patterns of the tables in their order.
    fn header<'p>(class: GoalClass, patterns: impl IntoIterator<Item = &'p [u8]>) -> Vec<u8> {
        let mut header = MAGIC.to_vec();
        header.extend([class.size.rows() as u8, class.size.cols() as u8, class.goal_blank]);
        for labels in patterns {
            header.push(labels.len() as u8);
            header.extend(labels);
        }
        header.push(0);
        header
    }

    /// Returns the path of the file for the chosen partitions.
    pub(crate) fn path(&self, class: GoalClass, choice: &[Patterns]) -> PathBuf {
        self.path_of(class, Partition::patterns_with_tables(class, choice).into_iter().map(Vec::as_slice))
    }

    /// Returns the path of the file for these patterns.
    fn path_of<'p>(&self, class: GoalClass, patterns: impl IntoIterator<Item = &'p [u8]>) -> PathBuf {
        let sizes: Vec<String> = patterns.into_iter().map(|labels| labels.len().to_string()).collect();
        let GoalClass { size, goal_blank } = class;
        self.directory.join(format!("{}x{}-{goal_blank}-{}.tables", size.rows(), size.cols(), sizes.join("-")))
    }

    /// Reads the tables of the chosen partitions from their file. Rejects a file with another digest. Some patterns
    /// share the table of another pattern, and the file does not repeat such a table.
    pub(crate) fn read(
        &self,
        class: GoalClass,
        choice: &[Patterns],
        digest: &str,
    ) -> Result<Vec<PatternTable>, ReadError> {
        let patterns = Partition::patterns_with_tables(class, choice);
        let labels = || patterns.iter().map(|labels| labels.as_slice());
        let path = self.path_of(class, labels());
        // Opening another kind of file, such as a pipe, could block forever.
        if fs::metadata(&path).is_ok_and(|metadata| !metadata.is_file()) {
            return Err(ReadError::NotAFile);
        }
        let file = File::open(&path).map_err(|error| match ReadError::from(error) {
            ReadError::Missing if path.with_extension("part").exists() => ReadError::Unfinished,
            other => other,
        })?;
        let mut file = Hashing::new(BufReader::with_capacity(1 << 20, file));
        let expected = Self::header(class, labels());
        let mut header = vec![0; expected.len()];
        file.read_exact(&mut header)?;
        if header != expected {
            return Err(ReadError::Other);
        }
        let mut tables = Vec::new();
        for (labels, geometry) in labels().zip(Geometry::of_patterns(class.size, &patterns)) {
            let mut bits = HugeVec::zeroed(geometry.words());
            let mut bytes = vec![0; 8 * CHUNK];
            for words in bits.chunks_mut(CHUNK) {
                let bytes = &mut bytes[..8 * words.len()];
                file.read_exact(bytes)?;
                words.iter_mut().zip(bytes.as_chunks().0).for_each(|(word, bytes)| *word = u64::from_le_bytes(*bytes));
            }
            tables.push(PatternTable::from_bits(class.goal_blank, labels, &geometry, bits));
        }
        if file.file.read(&mut [0])? != 0 {
            return Err(ReadError::Damaged("too long"));
        }
        if file.digest() == digest { Ok(tables) } else { Err(ReadError::Damaged("wrong hash")) }
    }

    /// Writes the tables of partitions to their file. Does nothing if another process holds the lock.
    pub(crate) fn write(&self, partitions: &[Partition]) -> io::Result<()> {
        let Some(class) = partitions.first().map(Partition::class) else { return Ok(()) };
        fs::create_dir_all(&self.directory)?;
        let lock = self.directory.join("lock");
        if fs::metadata(&lock).is_ok_and(|metadata| !metadata.is_file()) {
            return Err(io::Error::other("`lock` in the same directory is not a regular file"));
        }
        let lock = File::options().create(true).write(true).truncate(false).open(lock)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let tables = Partition::distinct_tables(partitions);
        let labels = || tables.iter().map(|table| table.labels());
        let path = self.path_of(class, labels());
        let part = path.with_extension("part");
        let written = write_to(&part, &Self::header(class, labels()), &tables);
        written.and_then(|()| fs::rename(&part, &path)).inspect_err(|_| {
            let _ = fs::remove_file(&part);
        })?;
        // The sync of the directory makes the new name permanent. A failure of the sync is harmless.
        let _ = File::open(&self.directory).and_then(|directory| directory.sync_all());
        Ok(())
    }
}

fn write_to(path: &Path, header: &[u8], tables: &[&PatternTable]) -> io::Result<()> {
    // An existing file is removed first, so that this function does not write to a file that another process has open.
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = BufWriter::with_capacity(1 << 20, File::create_new(path)?);
    write_content(&mut file, header, tables)?;
    file.into_inner()?.sync_all()
}

fn write_content(file: &mut impl Write, header: &[u8], tables: &[&PatternTable]) -> io::Result<()> {
    file.write_all(header)?;
    let mut bytes = Vec::with_capacity(8 * CHUNK);
    for table in tables {
        for words in table.bits().chunks(CHUNK) {
            bytes.clear();
            bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
            file.write_all(&bytes)?;
        }
    }
    Ok(())
}

/// A file, with the hash of all bytes read from the file.
struct Hashing<F> {
    file: F,
    hash: Sha256,
}

impl<F> Hashing<F> {
    fn new(file: F) -> Self {
        Self { file, hash: Sha256::new() }
    }

    /// Returns the SHA-256 of the bytes read, in hexadecimal.
    fn digest(self) -> String {
        self.hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl<F: Read> Hashing<F> {
    fn read_exact(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        self.file.read_exact(bytes)?;
        self.hash.update(bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use taquin_solver::tables::PatternTables;

    /// Returns the SHA-256 of a table file as the cache writes the file.
    fn digest(partitions: &[Partition]) -> String {
        let tables = Partition::distinct_tables(partitions);
        let labels = tables.iter().map(|table| table.labels());
        let header = DiskCache::header(partitions[0].class(), labels);
        let mut content = Hashing::new(io::sink());
        write_content(&mut content, &header, &tables).unwrap();
        content.digest()
    }

    impl<F: Write> Write for Hashing<F> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.hash.update(bytes);
            self.file.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            self.file.flush()
        }
    }

    /// Returns the class and tier of all tables that are read from files.
    fn all() -> impl Iterator<Item = (GoalClass, Tier)> {
        let tiers = [Tier::Standard, Tier::Large];
        let all = GoalClass::all().flat_map(move |class| tiers.map(|tier| (class, tier)));
        all.filter(|(class, tier)| Partition::choose(*class, *tier).is_some())
    }

    fn built(class: GoalClass, tier: Tier, threads: usize) -> String {
        digest(PatternTables::build(class, tier, threads).unwrap().partitions())
    }

    #[test]
    fn every_file_has_a_digest_and_small_ones_have_that_of_their_tables() {
        for (class, tier) in all() {
            let name = name_of(class, tier);
            let listed = digest_of(class, tier).unwrap_or_else(|| panic!("{name}: {REGENERATE}"));
            if class.size.cells() == 15 || (class == GoalClass::corner_of_4x4() && tier == Tier::Standard) {
                assert_eq!(built(class, tier, 3), listed, "{name}: {REGENERATE}");
            }
        }
        assert_eq!(DIGESTS.lines().count(), all().count(), "{REGENERATE}");
        assert_eq!(digest_of(GoalClass::corner_of_4x4(), Tier::Small), None, "small tables are in no file");
    }

    const REGENERATE: &str = "if the tables are to change, run \
        UPDATE_DIGESTS=1 cargo test --lib every_file_has_the_digest_of_its_tables -- --ignored";

    #[test]
    #[ignore = "builds all tables: minutes of processor time, and a gigabyte"]
    fn every_file_has_the_digest_of_its_tables() {
        let line = |(class, tier)| format!("{} {}\n", name_of(class, tier), built(class, tier, 1));
        let built: String = all().map(line).collect();
        if std::env::var_os("UPDATE_DIGESTS").is_some() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/service/tables/digests.txt");
            return fs::write(path, built).unwrap();
        }
        for (built, listed) in built.lines().zip(DIGESTS.lines()) {
            assert_eq!(built, listed, "{REGENERATE}");
        }
    }

    #[test]
    fn partitions_with_equal_tables_share_a_file() {
        let class = GoalClass::corner_of_4x4();
        let patterns = |rows: [&[u8]; 5]| rows.map(<[u8]>::to_vec).to_vec();
        let rows = patterns([&[1, 2, 3], &[4, 5, 6, 7], &[8, 9, 10, 11], &[12, 13], &[14, 15]]);
        // These patterns are reflections of the patterns in `rows`, so they have no tables of their own.
        let cols = patterns([&[4, 8, 12], &[1, 5, 9, 13], &[2, 6, 10, 14], &[3, 7], &[11, 15]]);
        let (one, two) = (vec![rows.clone()], vec![rows, cols]);
        let directory = std::env::temp_dir().join(format!("taquin-cache-{:016x}", getrandom::u64().unwrap()));
        let cache = DiskCache::new(directory.clone());
        let partitions = Partition::build(class, &one);
        cache.write(&partitions).unwrap();
        let tables = cache.read(class, &two, &digest(&partitions)).unwrap();
        // The fifth pattern is the fourth pattern with the columns flipped, so these two patterns share a table.
        assert_eq!(tables.len(), 4);
        assert_eq!(Partition::assemble(class, &two, tables).len(), 2);
        fs::remove_dir_all(directory).unwrap();
    }
}
