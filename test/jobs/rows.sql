create table rows (n integer primary key, text);
with recursive r(n) as (select 1 union all select n + 1 from r where n < 20000)
insert into rows select n, hex(n * 7919) from r;
create index by_text on rows(text);
select text, count(*) from rows group by substr(text, 1, 2) order by 1 limit 5;
