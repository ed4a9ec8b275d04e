import { expect, test } from '@jest/globals';
import { writtenBy } from '../../../memory/observed/shellWrites.js';

test.each([
  ['printf "x" > src/cart.js; sleep 100', ['src/cart.js']],
  ['npm test >> log.txt 2>&1', ['log.txt']],
  ['npm test 2> errors.txt', ['errors.txt']],
  ['npm test &> all.txt', ['all.txt']],
  ["cat > 'with blank.ts' <<'EOF'\n<b>bold</b> > not.ts\nEOF\necho done > after.ts", ['with blank.ts', 'after.ts']],
  ['cat <<EOF > page.html\n<p>half', ['page.html']],
  ['cat <<< word\necho b > b.txt', ['b.txt']],
  ['cd sub && echo a > a.txt && cd ../other && echo b > b.txt', ['sub/a.txt', 'other/b.txt']],
  ['(cd "/tmp/x y" && echo a > a.txt)', ['/tmp/x y/a.txt']],
  ['echo a > a.txt && echo b >a.txt', ['a.txt']],
])('%j writes %j', (command, files) => {
  expect(writtenBy(command)).toEqual(files);
});

test.each([
  ['make 2>&1 > /dev/null'],
  ["node -e 'const f = (a) => a > b.ts'"],
  ['node -e "if (a > b.ts) process.exit()"'],
  ['echo x > "$FILE"'],
  ['echo x > $HOME/x.ts'],
  ['echo x > *.ts'],
  ['cd "$DIR" && echo x > x.ts'],
  ['cd - && echo x > x.ts'],
  ['diff <(sort a) <(sort b)'],
  ['echo \\> a.ts'],
  ['git log --format=%an\\>x'],
  ['ls'],
])('%j names none', (command) => {
  expect(writtenBy(command)).toEqual([]);
});
